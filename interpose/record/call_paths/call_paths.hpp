// Finds the call paths of calls. Remembers each walk of a stack with the words that it read, and looks at
// these words alone the next time: what was the same for the walk then gives the same path now.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "interpose/record/call_paths/path_numbers.hpp"
#include "interpose/record/call_paths/stack_walk.hpp"

namespace penstock::record {

/// Owns what it remembers until the process ends. Thread: any; a known path is found without a lock.
class CallPaths final : private FrameRules {
 public:
  /// `most`: frames of a path. `numbers` must outlive the object.
  CallPaths(std::size_t most, PathNumbers& numbers) noexcept : most_(most), numbers_(numbers) {}

  /// Returns the number of the path from `return_address` on, marked as such, or `return_address`. `frame`:
  /// the frame pointer of a function that is running, whose caller, or one of the next callers, returns
  /// there.
  [[nodiscard]] std::uint64_t site_of(std::uint64_t return_address, std::uint64_t frame) noexcept;

 private:
  struct Known;

  [[nodiscard]] std::atomic<const Known*>& chain_of(std::uint64_t return_address) noexcept;
  [[nodiscard]] std::uint64_t walk(std::uint64_t return_address, std::uint64_t frame, StackBounds bounds);
  void remember(std::uint64_t return_address, const StackPath& path, std::uint64_t site) noexcept;
  CodeAt at(std::uint64_t return_address) noexcept override;

  const std::size_t most_;
  PathNumbers& numbers_;
  std::array<std::atomic<const Known*>, 1024> chains_{};  ///< by hash of the return address
  std::mutex walking_;                                    ///< guards what follows
  std::unordered_map<std::uint64_t, CodeAt> rules_;
  std::size_t known_ = 0;
};

/// Call paths are recorded from now on. `most`: frames of a path; 0 or 1: none are. `says`: of the ranks of a
/// job, this one says what holds for all.
void start_call_paths(std::size_t most, bool says) noexcept;

}  // namespace penstock::record
