#include "analysis/sharing/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace penstock::analysis {
namespace {

/// Hands out items in order and lets their workers merge in order.
class Queue {
 public:
  Queue(std::size_t count, const ItemWork& work, const ItemWork* merge)
      : end_(count), work_(work), merge_(merge) {}

  void run(unsigned worker) {
    for (std::size_t item = take(); item < end_; item = take()) {
      try {
        work_(item, worker);
        if (merge_ != nullptr) {
          if (!wait_for_turn(item)) {
            return;
          }
          (*merge_)(item, worker);
          end_turn();
        }
      } catch (...) {
        fail(item);
        return;
      }
    }
  }

  void rethrow() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  bool wait_for_turn(std::size_t item) {
    std::unique_lock lock(mutex_);
    merged_one_.wait(lock, [&] { return turn_ == item || item > failed_; });
    return item < failed_;
  }
  void end_turn() {
    const std::lock_guard lock(mutex_);
    ++turn_;
    merged_one_.notify_all();
  }
  std::size_t take() {
    const std::lock_guard lock(mutex_);
    return error_ || next_ >= end_ ? end_ : next_++;
  }
  void fail(std::size_t item) {
    const std::lock_guard lock(mutex_);
    if (item < failed_) {
      failed_ = item;
      error_ = std::current_exception();
    }
    merged_one_.notify_all();
  }

  const std::size_t end_;
  const ItemWork& work_;
  const ItemWork* merge_;
  std::mutex mutex_;
  std::condition_variable merged_one_;
  std::size_t next_ = 0;
  std::size_t turn_ = 0;                  ///< the item that merges next
  std::size_t failed_ = ~std::size_t{0};  ///< the lowest item that failed
  std::exception_ptr error_;
};

void run(std::size_t count, unsigned threads, const ItemWork& work, const ItemWork* merge) {
  Queue queue(count, work, merge);
  const auto helpers = std::min<std::size_t>(std::max(threads, 1u), std::max<std::size_t>(count, 1)) - 1;
  {
    std::vector<std::jthread> others;
    try {
      for (unsigned worker = 1; worker <= helpers; ++worker) {
        others.emplace_back([&queue, worker] { queue.run(worker); });
      }
    } catch (const std::system_error&) {
      // the system grants no more threads: continue with fewer
    }
    queue.run(0);
  }
  queue.rethrow();
}

}  // namespace

void for_each(std::size_t count, unsigned threads, const ItemWork& work) {
  run(count, threads, work, nullptr);
}

void for_each_in_order(std::size_t count, unsigned threads, const ItemWork& work, const ItemWork& merge) {
  run(count, threads, work, &merge);
}

unsigned usable_threads() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  // fails on systems with more than a thousand CPUs
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace penstock::analysis
