// Numbers the call paths of a recording: the same path has the same number, and is in the file before its
// number is returned. Knows not how paths are found.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "interpose/record/call_paths/stack_walk.hpp"

namespace penstock::record {

/// Frames as trace::CallPath has them; behind the last one all are 0.
struct PathFrames {
  std::size_t count = 0;
  std::array<std::uint64_t, most_frames> frames{};
  auto operator<=>(const PathFrames&) const = default;
};

/// Thread: any.
class PathNumbers {
 public:
  /// Returns the path's number, marked as such; the first frame alone if the recording, or this table, is
  /// full. Errors: std::bad_alloc.
  [[nodiscard]] std::uint64_t number_of(const PathFrames& path);
  /// Returns true if no new path gets a number.
  [[nodiscard]] bool is_full() const;
  /// Returns the frames of a call site: of a path, or the address itself. None: they are not known here.
  [[nodiscard]] PathFrames frames_of(std::uint64_t site) const;

 private:
  class Lock;

  mutable std::mutex mutex_;
  std::map<PathFrames, std::uint32_t> numbers_;
  std::vector<const PathFrames*> by_number_;  ///< number 1 first
};

}  // namespace penstock::record
