// The words that the members of a window share: locks, and counters of barriers, posts and completions. Each
// member has a row in memory that all map. Does not know how a caller waits, nor MPI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace penstock::interpose {

/// One member's row; for each other member two counters follow.
struct alignas(64) WordRow {
  std::atomic<std::int64_t> lock;     ///< below 0: -1 - the exclusive holder; else the number of shared ones
  std::atomic<std::uint32_t> queued;  ///< members that wait for the lock
  alignas(64) std::atomic<std::uint32_t> accumulating;  ///< 1: a member accumulates into this one's memory
  alignas(64) std::atomic<std::uint32_t> arrivals;      ///< barriers that this member has come to
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Owns nothing: the memory must stay mapped. Thread: any.
class SharedWords {
 public:
  using Counter = std::atomic<std::uint32_t>;

  /// The bytes of one member's row in a window of so many members.
  [[nodiscard]] static std::size_t row_bytes(std::size_t members) noexcept {
    return sizeof(WordRow) + 2 * members * sizeof(Counter);
  }

  SharedWords() noexcept = default;
  /// `rows`: each member's row, aligned as WordRow, and cleared.
  explicit SharedWords(std::vector<WordRow*> rows) noexcept : rows_(std::move(rows)) {}

  [[nodiscard]] std::size_t members() const noexcept { return rows_.size(); }
  [[nodiscard]] WordRow& row(std::size_t member) const noexcept { return *rows_[member]; }
  /// Returns how often `target` has opened its memory to `origin` (MPI_Win_post).
  [[nodiscard]] Counter& posts(std::size_t target, std::size_t origin) const noexcept {
    return counters(target)[origin];
  }
  /// Returns how often `origin` has ended its accesses to `target` (MPI_Win_complete).
  [[nodiscard]] Counter& completions(std::size_t origin, std::size_t target) const noexcept {
    return counters(origin)[members() + target];
  }

  /// `holder`: the member that takes the lock.
  [[nodiscard]] bool try_lock(std::size_t target, std::size_t holder, bool exclusive) const noexcept {
    std::atomic<std::int64_t>& word = row(target).lock;
    std::int64_t held = word.load(std::memory_order_relaxed);
    if (exclusive) {
      const std::int64_t own = -1 - static_cast<std::int64_t>(holder);
      return held == 0 && word.compare_exchange_strong(held, own, std::memory_order_acquire);
    }
    while (held >= 0) {
      if (word.compare_exchange_weak(held, held + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }
  void unlock(std::size_t target, bool exclusive) const noexcept {
    std::atomic<std::int64_t>& word = row(target).lock;
    if (exclusive) {
      word.store(0, std::memory_order_release);  // nobody else changes it meanwhile
    } else {
      word.fetch_sub(1, std::memory_order_release);
    }
  }
  /// Returns the member that holds a lock exclusively.
  [[nodiscard]] std::optional<std::size_t> exclusive_holder(std::size_t target) const noexcept {
    const std::int64_t held = row(target).lock.load(std::memory_order_relaxed);
    return held < 0 ? std::optional(static_cast<std::size_t>(-1 - held)) : std::nullopt;
  }

  [[nodiscard]] bool try_to_accumulate(std::size_t target) const noexcept {
    return row(target).accumulating.exchange(1, std::memory_order_acquire) == 0;
  }
  void end_accumulation(std::size_t target) const noexcept {
    row(target).accumulating.store(0, std::memory_order_release);
  }

 private:
  [[nodiscard]] Counter* counters(std::size_t member) const noexcept {
    return reinterpret_cast<Counter*>(rows_[member] + 1);
  }

  std::vector<WordRow*> rows_;
};

}  // namespace penstock::interpose
