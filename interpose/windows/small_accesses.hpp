// Puts and gets of few bytes that begin together: to start a copy costs its caller microseconds, however few
// bytes it moves. Knows neither epochs nor how long they were held back.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "interpose/windows/memory/member_memory.hpp"
#include "transports/copies/pull.hpp"
#include "transports/host/status.hpp"

namespace penstock::interpose {

/// A put or get, in one piece on both sides, whose target lies on a device.
struct SmallAccess {
  Direction direction = Direction::put;
  char* origin = nullptr;
  std::shared_ptr<MemberMemory> target;
  std::ptrdiff_t offset = 0;  ///< from the base of that memory
  std::size_t bytes = 0;
};

/// Larger ones keep a GPU busy for longer than several take to be begun.
inline constexpr std::size_t largest_small_access = 64u << 10;
/// This much keeps the GPU busy while more are collected.
inline constexpr std::size_t most_held_accesses = 128;
inline constexpr std::size_t most_held_bytes = 512u << 10;

/// Begins all of them, in no order: those between memory that one context's kernels reach by a launch for
/// each 32; those from pageable memory by one upload, which is waited for; others by themselves. `pull` stays
/// null if they are done. Waits with progress, so not to be called by what progress() steps. Errors: the
/// first failure, also the pull's; the others arrive nevertheless. Also std::bad_alloc.
[[nodiscard]] Status begin_together(std::span<const SmallAccess> accesses,
                                    std::unique_ptr<transports::Pull>& pull);

}  // namespace penstock::interpose
