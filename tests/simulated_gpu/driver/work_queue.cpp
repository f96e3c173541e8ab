#include "work_queue.hpp"

#include <thread>
#include <utility>

namespace simulated_gpu {

bool WorkPoint::reached() const noexcept {
  return queue == nullptr || queue->completed_.load(std::memory_order_acquire) >= number;
}

void WorkPoint::wait() const {
  if (reached()) return;
  std::unique_lock lock(queue->mutex_);
  queue->finished_.wait(lock, [this] { return reached(); });
}

WorkPoint WorkQueue::submit(std::function<void()> work, std::vector<WorkPoint> after) {
  const std::scoped_lock lock(mutex_);
  pending_.push_back({std::move(work), std::move(after)});
  ++submitted_;
  if (worker_runs_) {
    arrived_.notify_one();
  } else {
    worker_runs_ = true;
    std::thread([self = shared_from_this()] { self->run_worker(); }).detach();
  }
  return {shared_from_this(), submitted_};
}

bool WorkQueue::begin_own() {
  const std::scoped_lock lock(mutex_);
  if (completed_.load(std::memory_order_acquire) != submitted_) return false;
  ++submitted_;
  caller_works_ = true;
  return true;
}

void WorkQueue::end_own() {
  const std::scoped_lock lock(mutex_);
  completed_.fetch_add(1, std::memory_order_release);
  caller_works_ = false;
  finished_.notify_all();
  if (closed_ || !pending_.empty()) arrived_.notify_one();
}

WorkPoint WorkQueue::last() {
  const std::scoped_lock lock(mutex_);
  return {shared_from_this(), submitted_};
}

bool WorkQueue::idle() noexcept {
  const std::scoped_lock lock(mutex_);
  return completed_.load(std::memory_order_acquire) == submitted_;
}

void WorkQueue::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  arrived_.notify_one();
}

void WorkQueue::run_worker() {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [this] { return !caller_works_ && (closed_ || !pending_.empty()); });
    if (pending_.empty()) return;
    {
      const Work work = std::move(pending_.front());
      pending_.pop_front();
      lock.unlock();
      for (const WorkPoint& point : work.after) point.wait();
      work.run();
    }  // what the work owns is released before it counts as done
    lock.lock();
    completed_.fetch_add(1, std::memory_order_release);
    finished_.notify_all();
  }
}

}  // namespace simulated_gpu
