#include "transports/stream_order/marks.hpp"

#include <unistd.h>

#include <chrono>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include "transports/host/background_thread.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::transports {
namespace {

/// Events are queried only once this many marks wait.
constexpr std::size_t worth_a_question = 8;
/// settle() polls for this long; work that takes longer is the application's.
constexpr std::uint64_t shortest_work_ns = 3000;
/// A flag that waits for longer is overdue: the application has left MPI, and no call will settle it soon.
/// Waking this often costs the core less than a thousandth.
constexpr std::chrono::milliseconds overdue{5};
/// After this many looks without marks the thread sleeps; sooner, each step of the program would have to wake
/// it.
constexpr int looks_before_sleep = 200;

/// Sets the flag of a reached mark. A copy of its payload must not wait for work queued later.
void signal(const Mark& mark) noexcept {
  if (mark.flag == nullptr) return;
  mark.event.context()->note_idle_since(mark.since_ns);
  mark.flag->store(1, std::memory_order_release);
}

}  // namespace

bool is_reached(const Mark& mark) noexcept {
  bool done = false;
  return mark.flag == nullptr || !mark.event.query(done).ok() || done;
}

bool Marks::add(Mark&& mark) noexcept {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count == marks_.size() || !watch()) return false;
    marks_[count] = std::move(mark);
    count_.store(count + 1, std::memory_order_relaxed);
    // so that the receiver need not wait for the last; the mark before is the newest that may be reached
    if (count >= worth_a_question) drop(answer(count - 1));
    wakes = std::exchange(is_watcher_asleep_, false);
  }
  if (wakes) {
    calls_.fetch_add(1);
    calls_.notify_one();
  }
  return true;
}

void Marks::settle(bool (*driver_will_signal)(const Mark&) noexcept) noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint64_t begin_ns = steady_now_ns();
  std::size_t answered = 0;
  const std::size_t count = count_.load(std::memory_order_relaxed);
  while (answered == 0 && count != 0 && steady_now_ns() - begin_ns < shortest_work_ns)
    answered = answer(count - 1);
  for (const Mark& mark : std::span(marks_).subspan(answered, count - answered)) {
    if (!driver_will_signal(mark)) signal(mark);
  }
  drop(count);
}

void Marks::forget(const std::atomic<std::uint32_t>* flag) noexcept {
  const std::lock_guard lock(mutex_);
  for (Mark& mark : marks_) {
    if (mark.flag == flag) mark.flag = nullptr;
  }
}

/// Sets the flags of all marks up to `newest` if that is reached. Returns their number.
std::size_t Marks::answer(std::size_t newest) noexcept {
  if (!is_reached(marks_[newest])) return 0;
  for (const Mark& mark : std::span(marks_).first(newest + 1)) {
    if (mark.event.context() != marks_[newest].event.context() && !is_reached(mark)) return 0;
  }
  for (const Mark& mark : std::span(marks_).first(newest + 1)) signal(mark);
  return newest + 1;
}

void Marks::drop(std::size_t first_ones) noexcept {
  if (first_ones == 0) return;
  const std::size_t count = count_.load(std::memory_order_relaxed);
  std::move(marks_.begin() + static_cast<std::ptrdiff_t>(first_ones),
            marks_.begin() + static_cast<std::ptrdiff_t>(count), marks_.begin());
  for (std::size_t i = count - first_ones; i < count; ++i) marks_[i] = {};
  count_.store(count - first_ones, std::memory_order_relaxed);
}

/// Starts the thread if it does not run. Under the mutex.
bool Marks::watch() noexcept {
  if (watcher_.joinable()) return true;
  try {
    is_ending_ = false;
    watcher_ = start_background_thread("penstock-marks", [this] { look_after_overdue(); });
    watched_process_ = getpid();
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void Marks::look_after_overdue() noexcept {
  for (int looks = 0;; ++looks) {
    std::unique_lock lock(mutex_);
    if (is_ending_) return;
    if (!are_none()) looks = 0;
    answer_overdue();
    if (looks < looks_before_sleep) {
      lock.unlock();
      std::this_thread::sleep_for(overdue);
      continue;
    }
    is_watcher_asleep_ = true;
    const std::uint32_t heard = calls_.load();
    lock.unlock();
    calls_.wait(heard);
    looks = 0;
  }
}

/// Sets overdue flags but keeps their marks: events are given back in the application's calls only. Under the
/// mutex.
void Marks::answer_overdue() noexcept {
  constexpr auto overdue_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(overdue).count());
  const std::uint64_t now_ns = steady_now_ns();
  for (Mark& mark : std::span(marks_).first(count_.load(std::memory_order_relaxed))) {
    if (mark.since_ns + overdue_ns > now_ns || !is_reached(mark)) continue;  // another context's may be
    signal(mark);
    mark.flag = nullptr;
  }
}

void Marks::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!watcher_.joinable() || watched_process_ != getpid()) return;
    is_ending_ = true;
    is_watcher_asleep_ = false;
  }
  calls_.fetch_add(1);
  calls_.notify_one();
  watcher_.join();
}

}  // namespace penstock::transports
