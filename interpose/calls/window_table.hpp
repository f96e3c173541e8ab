// Finds what belongs to a window by the handle of the MPI library. Knows nothing else of windows.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace penstock::interpose {

/// Shares what belongs to windows. Never destroyed, as static destructors may use windows. Thread: any.
template <typename Value>
class WindowTable {
 public:
  /// Returns null for a window to which nothing belongs. Cost: a load if there is none.
  [[nodiscard]] std::shared_ptr<Value> find(MPI_Win handle) const noexcept {
    if (count_.load(std::memory_order_acquire) == 0) return nullptr;
    const std::lock_guard guard(lock_);
    const auto found = values_.find(handle);
    return found == values_.end() ? nullptr : found->second;
  }
  /// Errors: std::bad_alloc.
  void note(MPI_Win handle, std::shared_ptr<Value> value) {
    const std::lock_guard guard(lock_);
    values_[handle] = std::move(value);
    count_.store(values_.size(), std::memory_order_release);
  }
  void forget(MPI_Win handle, const std::shared_ptr<Value>& value) noexcept {
    std::shared_ptr<Value> forgotten;  // destroyed after the lock is released
    const std::lock_guard guard(lock_);
    const auto found = values_.find(handle);
    if (found == values_.end() || found->second != value) return;  // the handle names another one by now
    forgotten = std::move(found->second);
    values_.erase(found);
    count_.store(values_.size(), std::memory_order_release);
  }

 private:
  mutable std::mutex lock_;
  std::unordered_map<MPI_Win, std::shared_ptr<Value>> values_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace penstock::interpose
