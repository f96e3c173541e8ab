// Bounds the offset of GPU timestamps from the host's clock by causality: an activity begins after the call
// that issued it began, and has ended when a synchronisation of its stream or context returns. Knows no
// CUPTI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::record {

/// A stream of a context: the numbers of streams come again in every context.
struct StreamOfContext {
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  bool operator==(const StreamOfContext&) const = default;
};

/// Takes the records in any order; those without a counterpart are ignored. Thread: one. Unit: ns.
class GpuClockBounds {
 public:
  void call_began(std::uint32_t correlation, std::uint64_t begin_ns) noexcept;
  void activity(std::uint32_t correlation, StreamOfContext stream, std::uint64_t begin_ns,
                std::uint64_t end_ns) noexcept;
  void stream_was_synchronised(std::uint32_t correlation, StreamOfContext stream,
                               std::uint64_t end_ns) noexcept;
  void context_was_synchronised(std::uint32_t correlation, std::uint32_t context,
                                std::uint64_t end_ns) noexcept;

  /// Returns the largest offset, either way, that all records allow; trace::clock_error_unknown until there
  /// is a bound from both sides.
  [[nodiscard]] std::uint64_t error_ns() const noexcept;

 private:
  static constexpr std::size_t calls = 4096;
  static constexpr std::size_t streams = 64;

  struct Call {
    std::uint32_t correlation;
    std::uint64_t call_begin_ns;      ///< 0: not seen yet
    std::uint64_t activity_begin_ns;  ///< 0: not seen yet
  };
  struct Activity {
    StreamOfContext stream;
    std::uint32_t correlation;
    std::uint64_t end_ns;  ///< 0: none yet
  };

  [[nodiscard]] Call& call(std::uint32_t correlation) noexcept;
  [[nodiscard]] Activity& last_of(StreamOfContext stream) noexcept;
  void had_ended(const Activity& activity, std::uint32_t correlation, std::uint64_t end_ns) noexcept;
  void compare(const Call& call) noexcept;

  std::array<Call, calls> calls_{};           ///< at correlation % calls
  std::array<Activity, streams> last_{};      ///< the stream's last activity, at (context + stream) % streams
  std::int64_t least_offset_ns_ = INT64_MIN;  ///< GPU's clock minus the host's is at least this
  std::int64_t most_offset_ns_ = INT64_MAX;
};

}  // namespace penstock::record
