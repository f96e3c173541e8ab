// One point that message_benchmark measures: a pattern of messages, the kind of memory on either side, a
// size. And which points a run measures. Knows neither MPI nor how anything is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/memory.hpp"

namespace penstock::benchmarks {

using test_support::MemoryKind;

enum class Pattern : std::uint8_t {
  half_round_trip,  ///< one message there, one back, both from the sender's kind to the receiver's
  window,           ///< many messages at once from rank 0 to rank 1
  one_buffer,       ///< the same from one buffer into one buffer, as OSU's bandwidth test posts it
  both_ways,        ///< a window from each rank to the other at the same time
};

inline constexpr std::size_t largest_message_bytes = std::size_t{1} << 30;

/// Trivially copyable: one rank sends it to the other.
struct Point {
  Pattern pattern;
  MemoryKind sender_kind;
  MemoryKind receiver_kind;
  std::size_t bytes;

  [[nodiscard]] bool from_device() const noexcept { return lives_on_device(sender_kind); }
  [[nodiscard]] bool to_device() const noexcept { return lives_on_device(receiver_kind); }
  /// Messages under way at once in one direction.
  [[nodiscard]] std::size_t messages() const noexcept;
  /// From one message's buffer to the next one's; each is aligned as an allocation would be.
  [[nodiscard]] std::size_t stride() const noexcept;
  /// Where a message lies in the memory of its direction.
  [[nodiscard]] std::size_t offset_of(std::size_t message) const noexcept {
    return pattern == Pattern::one_buffer ? 0 : message * stride();
  }
  /// Of the memory that holds all the messages of one direction.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return offset_of(messages() - 1) + bytes; }
  friend bool operator==(const Point&, const Point&) = default;
};

/// As in `window/device/pinned/65536`.
[[nodiscard]] std::string name_of(const Point& point);

/// Every pattern with every pair of kinds, in sizes that let the whole run end within a minute on two GPUs:
/// device to device in close steps to 1 GiB; other pairs in wide steps, less far where a CPU copies. `sizes`,
/// if any, for every pair instead.
[[nodiscard]] std::vector<Point> points_of(const std::vector<std::size_t>& sizes);

}  // namespace penstock::benchmarks
