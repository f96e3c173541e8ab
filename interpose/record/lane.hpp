// A lane is one writer's place in the recording: the block it fills and where in it the next record goes.
// Each thread has one, taken from a registry that outlives threads. Knows nothing of what records mean.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/record/trace_format.hpp"

namespace penstock::record {

/// Copies 64 bytes to `place`, the last of them, `kind`, last: a reader that sees it sees the rest.
inline void commit(std::byte* place, const void* record) noexcept {
  constexpr std::size_t kind_offset = trace::record_bytes - 1;
  std::memcpy(place, record, kind_offset);
  const std::byte kind = static_cast<const std::byte*>(record)[kind_offset];
  std::atomic_ref<std::byte>(place[kind_offset]).store(kind, std::memory_order_release);
}

/// Thread: its holder only; the counter may be read by any.
class alignas(64) Lane {
 public:
  explicit Lane(std::uint64_t number) noexcept : number_(number) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Returns where the record lies now, or nullptr: no space; the caller counts it as dropped.
  std::byte* append(const void* record) noexcept {
    if (next_ == stop_ && !make_room()) [[unlikely]] {
      return nullptr;
    }
    std::byte* place = next_;
    commit(place, record);
    next_ = place + trace::record_bytes;
    written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return place;
  }

  /// Makes sure that `records` more go into one block, leaving the present one if they would not.
  [[nodiscard]] bool reserve(std::size_t records) noexcept;

  [[nodiscard]] std::uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }

  /// A lane of the recorder's own threads: what it writes costs the application's threads nothing.
  void belongs_to_recorder() noexcept { is_recorders_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_recorders() const noexcept { return is_recorders_.load(std::memory_order_relaxed); }

 private:
  friend class LaneRegistry;
  [[nodiscard]] bool make_room() noexcept;
  [[nodiscard]] bool begin_block() noexcept;

  std::byte* next_ = nullptr;
  std::byte* stop_ =
      nullptr;  ///< where there is something to do first: announce the need of a block, or take one
  std::byte* end_ = nullptr;
  std::atomic<std::uint64_t> written_{0};
  std::uint64_t ordinal_ = 0;
  const std::uint64_t number_;
  std::atomic<bool> is_recorders_{false};
  std::atomic<bool> is_held_{true};
  Lane* next_in_registry_ = nullptr;
};

/// Owns all lanes, for good. A thread that ends gives its lane, with what is left of its block, to a later
/// one. Thread: any, without locks.
class LaneRegistry {
 public:
  /// nullptr when memory is exhausted.
  [[nodiscard]] Lane* acquire() noexcept;
  void release(Lane& lane) noexcept { lane.is_held_.store(false, std::memory_order_release); }

  /// Records that the application's threads wrote.
  [[nodiscard]] std::uint64_t written_by_application() const noexcept;

 private:
  std::atomic<Lane*> first_{nullptr};
  std::atomic<std::uint64_t> count_{0};
};

[[nodiscard]] LaneRegistry& lanes() noexcept;

/// Taken on the thread's first call. nullptr when memory is exhausted.
[[nodiscard]] Lane* lane_of_this_thread() noexcept;

}  // namespace penstock::record
