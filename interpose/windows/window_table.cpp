#include "interpose/windows/window_table.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace penstock::interpose {
namespace {

/// Never destroyed, as static destructors may use windows.
struct OwnWindows {
  std::mutex lock;
  std::unordered_map<MPI_Win, std::shared_ptr<Window>> windows;
};
OwnWindows& own_windows() {
  static OwnWindows& all = *new OwnWindows;
  return all;
}

std::atomic<std::size_t> own_window_count{0};

}  // namespace

std::shared_ptr<Window> find_window(MPI_Win handle) noexcept {
  if (own_window_count.load(std::memory_order_acquire) == 0) return nullptr;
  OwnWindows& all = own_windows();
  const std::lock_guard guard(all.lock);
  const auto found = all.windows.find(handle);
  return found == all.windows.end() ? nullptr : found->second;
}

void note_own_window(MPI_Win handle, std::shared_ptr<Window> window) {
  OwnWindows& all = own_windows();
  const std::lock_guard guard(all.lock);
  all.windows[handle] = std::move(window);
  own_window_count.store(all.windows.size(), std::memory_order_release);
}

void forget_own_window(MPI_Win handle, const std::shared_ptr<Window>& window) noexcept {
  std::shared_ptr<Window> forgotten;  // destroyed after the lock is released
  OwnWindows& all = own_windows();
  const std::lock_guard guard(all.lock);
  const auto found = all.windows.find(handle);
  if (found == all.windows.end() || found->second != window) return;  // the handle names another one by now
  forgotten = std::move(found->second);
  all.windows.erase(found);
  own_window_count.store(all.windows.size(), std::memory_order_release);
}

}  // namespace penstock::interpose
