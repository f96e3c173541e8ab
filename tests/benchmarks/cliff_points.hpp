// Which points cliff_benchmark measures, and which of the measured ones are cliffs. Knows neither MPI nor how
// anything is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/memory.hpp"

namespace penstock::benchmarks {

using test_support::MemoryKind;

/// Trivially copyable: one rank sends it to the other.
struct CliffPoint {
  MemoryKind sender_kind = MemoryKind::device;
  MemoryKind receiver_kind = MemoryKind::device;
  bool blocking =
      false;  ///< MPI_Send and MPI_Recv one after the other, else MPI_Isend, MPI_Irecv, MPI_Waitall
  std::uint32_t number = 1;  ///< of messages one way; a single one goes there and back
  std::size_t bytes = 0;     ///< of each

  [[nodiscard]] bool from_device() const noexcept { return lives_on_device(sender_kind); }
  [[nodiscard]] bool to_device() const noexcept { return lives_on_device(receiver_kind); }
  [[nodiscard]] std::size_t offset_of(std::size_t message) const noexcept;
  /// Memory that holds all the messages one way.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return offset_of(number - 1) + bytes; }
  [[nodiscard]] bool is_of_series(const CliffPoint& other) const noexcept;
  friend bool operator==(const CliffPoint&, const CliffPoint&) = default;
};

struct CliffWalk {
  std::vector<std::uint32_t> numbers = {1, 4, 16, 64, 256};
  std::size_t smallest = 8;
  std::size_t largest = std::size_t{256} << 20;
  std::size_t device_bytes = std::size_t{16} << 30;  ///< of all messages one way, both ends on a device
  std::size_t host_bytes = std::size_t{1} << 30;     ///< the same where one end is not, or memory is managed
};

/// One series after the other (kinds, calls, number), each by growing size: powers of two, and in the series
/// that can show a threshold of one byte (single and 64 messages) their neighbours.
[[nodiscard]] std::vector<CliffPoint> points_of(const CliffWalk& walk);

struct MeasuredPoint {
  CliffPoint point;
  double message_s = 0;  ///< all the messages, or half a round trip
  double raw_s = 0;      ///< as many copies, by CUDA alone

  [[nodiscard]] double of_raw() const noexcept { return raw_s / message_s; }
  [[nodiscard]] double gigabytes_per_s() const noexcept {
    return 1e-9 * static_cast<double>(point.bytes) * point.number / message_s;
  }
};

/// What is wrong with one measured point.
struct Cliff {
  std::size_t index = 0;  ///< of the point
  bool by_neighbour = false;
  std::string why;
};

/// Points are cliffs that reach less than `least_of_raw`, or are more than twice as bad as a neighbour in
/// size or number: slower a byte than the next smaller size, longer than the next larger one, slower a
/// message than the next fewer, longer than the next more. `measured` in the order of points_of().
[[nodiscard]] std::vector<Cliff> find_cliffs(const std::vector<MeasuredPoint>& measured, double least_of_raw);

/// The cliffs as a Markdown table. Neighbours in size that are only slow beside raw copies share a row.
[[nodiscard]] std::string table_of(const std::vector<MeasuredPoint>& measured,
                                   const std::vector<Cliff>& cliffs);
/// All points, as CSV with a line of headings.
[[nodiscard]] std::string csv_of(const std::vector<MeasuredPoint>& measured,
                                 const std::vector<Cliff>& cliffs);
/// As in `device → device, 64 at once, non-blocking`.
[[nodiscard]] std::string series_name(const CliffPoint& point);

}  // namespace penstock::benchmarks
