// The part of the run that is to be recorded: all of it, or from the begin of one range, or of
// cudaProfilerStart, to the end of another. Before it records are made as ever, but overwritten soon; after
// it none are. Knows no NVTX and no CUPTI, which tell it what happens.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/record/window_request.hpp"

namespace penstock::record {

/// Thread: any, after request(). All but the first begin and the first end change nothing.
class Window {
 public:
  /// `range`: string id of the range's name.
  void request(const WindowRequest& request, std::uint32_t range) noexcept;

  void range_begins(std::uint32_t name, std::uint32_t entry, std::uint64_t begin_ns) noexcept {
    if (by_ == WindowRequest::By::range && name == range_ && entry == first_) begin(begin_ns);
  }
  void range_ends(std::uint32_t name, std::uint32_t entry, std::uint64_t end_ns) noexcept {
    if (by_ == WindowRequest::By::range && name == range_ && entry == last_) end(end_ns);
  }
  void profiler_starts(std::uint64_t at_ns) noexcept { begin(at_ns); }
  void profiler_stops(std::uint64_t at_ns) noexcept { end(at_ns); }

  [[nodiscard]] bool is_by_profiler() const noexcept { return by_ == WindowRequest::By::profiler; }
  /// Returns true if the window was to begin, and did not.
  [[nodiscard]] bool is_awaited() const noexcept {
    return by_ != WindowRequest::By::nothing && phase_.load() == Phase::before;
  }

 private:
  enum class Phase : std::uint8_t { before, within, after };
  void begin(std::uint64_t at_ns) noexcept;
  void end(std::uint64_t at_ns) noexcept;

  WindowRequest::By by_ = WindowRequest::By::nothing;
  std::uint32_t range_ = 0;
  std::uint32_t first_ = 1;
  std::uint32_t last_ = 1;
  std::atomic<Phase> phase_{Phase::before};
};

[[nodiscard]] Window& window() noexcept;

/// Counts how often ranges of each name are entered. Names beyond its places are not counted.
class RangeEntries {
 public:
  /// Returns the number of times with this one; 0: not known. Thread: any, without locks.
  [[nodiscard]] std::uint32_t enter(std::uint32_t name) noexcept;
  /// Takes a place for a name before others may.
  void reserve(std::uint32_t name) noexcept { static_cast<void>(place_of(name)); }

 private:
  static constexpr std::size_t places = 4096;
  struct Place {
    std::atomic<std::uint32_t> name{0};
    std::atomic<std::uint32_t> entries{0};
  };
  [[nodiscard]] Place* place_of(std::uint32_t name) noexcept;
  Place places_[places];
};

[[nodiscard]] RangeEntries& range_entries() noexcept;

}  // namespace penstock::record
