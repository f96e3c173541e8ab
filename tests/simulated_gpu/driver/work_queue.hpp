// Work in order: one queue a stream, run by a worker thread of its own. Work may have to wait for points in
// other queues, which is all that default streams and events need. Who would wait for its work at once may do
// it in the worker's stead: to wake two threads takes longer than most copies. Knows no stream, event or
// memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace simulated_gpu {

class WorkQueue;

/// The end of one piece of work. The default one has always been reached.
struct WorkPoint {
  std::shared_ptr<WorkQueue> queue;
  std::uint64_t number = 0;

  [[nodiscard]] bool reached() const noexcept;
  void wait() const;
};

/// Owns: its pending work. The worker starts with the first work and ends after `close` when all is done; it
/// is detached, so that nothing is waited for when the process ends. Thread: any.
class WorkQueue : public std::enable_shared_from_this<WorkQueue> {
 public:
  /// Queues `work` behind everything submitted before and behind `after`.
  WorkPoint submit(std::function<void()> work, std::vector<WorkPoint> after = {});

  /// Whether all submitted before is done; then the caller does the next work itself, and calls `end_own`
  /// after it.
  [[nodiscard]] bool begin_own();
  void end_own();

  /// The end of what has been submitted so far.
  [[nodiscard]] WorkPoint last();
  [[nodiscard]] bool idle() noexcept;

  /// No more work will come.
  void close();

 private:
  friend struct WorkPoint;
  struct Work {
    std::function<void()> run;
    std::vector<WorkPoint> after;
  };

  void run_worker();

  std::mutex mutex_;
  std::condition_variable arrived_;   // the worker waits here
  std::condition_variable finished_;  // others wait here for completed_ to grow
  std::deque<Work> pending_;
  std::uint64_t submitted_ = 0;
  std::atomic<std::uint64_t> completed_{0};
  bool worker_runs_ = false;
  bool caller_works_ = false;  // between begin_own and end_own: the worker does not start what comes after
  bool closed_ = false;
};

}  // namespace simulated_gpu
