// A lane is the position of one writer in the recording: its block, and where in it the next record goes.
// Each thread takes one from a registry that outlives threads. Knows no record's meaning.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/record/delta_coding.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::record {

/// Copies 64 bytes to `place`, and their last byte, `kind`, last: a reader that sees it sees all others.
inline void commit(std::byte* place, const void* record) noexcept {
  constexpr std::size_t kind_offset = trace::record_bytes - 1;
  std::memcpy(place, record, kind_offset);
  const std::byte kind = static_cast<const std::byte*>(record)[kind_offset];
  std::atomic_ref<std::byte>(place[kind_offset]).store(kind, std::memory_order_release);
}

/// Thread: its holder only; any may read the counter.
class alignas(64) Lane {
 public:
  explicit Lane(std::uint64_t number) noexcept : number_(number) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Returns where the record lies now, in a lane of the recorder's own as it is. Null: there is no space,
  /// and the caller counts it as dropped.
  std::byte* append(const void* record) noexcept {
    if (next_ >= stop_ && !make_room()) [[unlikely]] {
      return nullptr;
    }
    std::byte* place = next_;
    if (coding_ == trace::BlockCoding::delta) {
      next_ = deltas_.write(record, place);
    } else {
      commit(place, record);
      next_ = place + trace::record_bytes;
    }
    written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return place;
  }

  /// Ensures that the next `records` lie in one block; begins a new one if the present one has no room. In a
  /// lane of the recorder's own.
  [[nodiscard]] bool reserve(std::size_t records) noexcept;

  [[nodiscard]] std::uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }

  /// Returns where the lane's thread keeps the call that it is in. Null: all slots are taken.
  [[nodiscard]] trace::OpenCall* open_call() noexcept { return open_call_; }
  /// Takes a slot for it, if the lane has none, and names the thread in it.
  void take_open_call() noexcept;

  /// Keeps all of the lane's records: names, without which others are of no use.
  void keep_all() noexcept { keeps_all_ = true; }
  /// Keeps the last so many full blocks from being overwritten, as records in them may still be completed.
  /// Only if there is no other block, they may be.
  void hold_back(std::size_t blocks) noexcept { held_back_at_most_ = std::min(blocks, most_held_back); }
  static constexpr std::size_t most_held_back = 32;
  /// Returns the numbers of the present block and of the oldest one that is not up to be overwritten.
  [[nodiscard]] std::uint64_t block() const noexcept { return ordinal_ - 1; }
  [[nodiscard]] std::uint64_t oldest_block() const noexcept { return given_up_; }

  /// Marks the lane as one of the recorder's own threads, whose records cost the application nothing. From
  /// now on they lie in the file as they are, so that they can be completed later.
  void belongs_to_recorder() noexcept;
  [[nodiscard]] bool is_recorders() const noexcept { return is_recorders_.load(std::memory_order_relaxed); }

 private:
  friend class LaneRegistry;
  [[nodiscard]] bool make_room() noexcept;
  [[nodiscard]] bool begin_block() noexcept;
  /// Gives up the full block, and of those held back all but so many, where blocks are overwritten.
  void retire_block() noexcept;
  bool retire_oldest() noexcept;

  std::byte* begin_ = nullptr;  ///< of the present block
  std::byte* next_ = nullptr;
  std::byte* stop_ = nullptr;  ///< from here on the lane first announces the need of a block, or takes one
  std::byte* end_ = nullptr;   ///< from here on the block has no room for a record
  trace::OpenCall* open_call_ = nullptr;
  std::atomic<std::uint64_t> written_{0};
  trace::BlockCoding coding_ = trace::BlockCoding::delta;
  std::uint64_t ordinal_ = 0;
  std::uint64_t given_up_ = 0;  ///< blocks that may be overwritten: the first ones
  const std::uint64_t number_;
  bool keeps_all_ = false;
  std::size_t held_back_at_most_ = 0;
  std::size_t held_back_ = 0;
  std::array<std::byte*, most_held_back + 1> held_back_blocks_{};  ///< the oldest first
  std::atomic<bool> is_recorders_{false};
  std::atomic<bool> is_held_{true};
  Lane* next_in_registry_ = nullptr;
  trace::DeltaWriter deltas_;
};

/// Owns all lanes until the process ends. A thread that ends leaves its lane, with the rest of its block, to
/// a later thread. Thread: any, without locks.
class LaneRegistry {
 public:
  /// Returns null if there is no memory.
  [[nodiscard]] Lane* acquire() noexcept;
  void release(Lane& lane) noexcept { lane.is_held_.store(false, std::memory_order_release); }

  /// Returns the number of records that the application's threads wrote.
  [[nodiscard]] std::uint64_t written_by_application() const noexcept;

 private:
  std::atomic<Lane*> first_{nullptr};
  std::atomic<std::uint64_t> count_{0};
};

[[nodiscard]] LaneRegistry& lanes() noexcept;

/// Returns this thread's lane, which its first call takes. Null: there is no memory.
[[nodiscard]] Lane* lane_of_this_thread() noexcept;

}  // namespace penstock::record
