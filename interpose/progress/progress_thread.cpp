#include "interpose/progress/progress_thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <thread>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/progress_lock.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/background_thread.hpp"

namespace penstock::interpose {
namespace {

using std::chrono::nanoseconds;

nanoseconds longest_pause_with(const RequestTable::Outlook& outlook) noexcept {
  if (outlook.need == Pending::Progress::none || !NodeDirectory::gpu_seen())
    return nanoseconds(policy::longest_pause_unneeded_ns);
  return outlook.need >= Pending::Progress::always ? nanoseconds(policy::longest_pause_in_flight_ns)
                                                   : nanoseconds(policy::longest_pause_ns);
}

class ProgressThread {
 public:
  explicit ProgressThread(bool takes_turns) noexcept : takes_turns_(takes_turns) {}

  /// Errors: std::system_error.
  void start() {
    thread_ = start_background_thread("penstock-step", [this] { run(); });
  }

  void stop() noexcept {
    stopping_.store(true, std::memory_order_release);
    request_table().posted().fetch_add(1);
    request_table().posted().notify_one();
    thread_.join();
  }

 private:
  void run() noexcept {
    ::prctl(PR_SET_TIMERSLACK, 1'000ul);  // ns; by default sleeps take 50 µs longer
    stand_aside_on_this_thread();
    RequestTable::Outlook outlook;
    std::uint32_t posted = 0;
    std::uint64_t changed_ns = record::now_ns();
    nanoseconds longest = nanoseconds(policy::shortest_pause_ns);
    while (!stopping_.load(std::memory_order_acquire)) {
      const nanoseconds quiet(record::now_ns() - changed_ns);
      if (outlook.unfinished == 0 && quiet > nanoseconds(policy::awake_without_work_ns)) {
        request_table().posted().wait(posted);
        changed_ns = record::now_ns();
      } else {
        std::this_thread::sleep_for(std::clamp(quiet / 8, nanoseconds(policy::shortest_pause_ns), longest));
      }
      longest = nanoseconds(policy::longest_pause_during_calls_ns);
      if (takes_turns_ && !progress_lock.try_take_alone()) continue;
      const std::uint32_t posted_now = request_table().posted().load();
      const RequestTable::Outlook before = outlook;
      outlook = look();
      if (takes_turns_) progress_lock.give_alone();
      longest = longest_pause_with(outlook);
      if (outlook != before || posted_now != posted) changed_ns = record::now_ns();
      posted = posted_now;
    }
  }

  [[nodiscard]] static RequestTable::Outlook look() noexcept {
    try {
      request_table().progress_quietly();
    } catch (const std::bad_alloc&) {
      // the application's next call continues it, and reports the error if it fails again
    }
    return request_table().outlook();
  }

  const bool takes_turns_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

/// Destroyed only by stop_progress_thread(): a program may exit, or abort, without MPI_Finalize.
ProgressThread* the_thread = nullptr;

/// A forked child has no such thread; the fork may have happened during a step.
void forget_in_child() noexcept {
  progress_lock.share(false);
  the_thread = nullptr;
}

}  // namespace

void start_progress_thread() noexcept {
  const bool takes_turns = !request_table().is_threaded();
  auto* const thread = new (std::nothrow) ProgressThread(takes_turns);
  try {
    if (thread == nullptr) throw std::bad_alloc();
    pthread_atfork(nullptr, nullptr, forget_in_child);
    request_table().watch_posts();
    progress_lock.share(takes_turns);
    thread->start();
    the_thread = thread;
  } catch (const std::exception&) {  // std::system_error, std::bad_alloc
    progress_lock.share(false);
    delete thread;
    record::notice("no progress thread: the system could not create one");
  }
}

void stop_progress_thread() noexcept {
  if (the_thread == nullptr) return;
  the_thread->stop();
  progress_lock.share(false);
  delete the_thread;
  the_thread = nullptr;
}

}  // namespace penstock::interpose
