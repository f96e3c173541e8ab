#include "transports/host/copy_workers.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

#include "transports/host/background_thread.hpp"
#include "transports/host/processor_pause.hpp"

namespace penstock::transports {
namespace {

/// A helper polls for more work this long before it sleeps: the chunks of one payload follow each other
/// within some tens of µs, and waking up costs as much.
constexpr std::chrono::microseconds vigilance{50};

/// Returns the number of cores that the calling thread may use; 1 if it cannot be known.
unsigned cores() noexcept {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return 1;
  return static_cast<unsigned>(std::max(CPU_COUNT(&mask), 1));
}

}  // namespace

CopyWorkers& CopyWorkers::of_process() {
  static auto* const instance = new CopyWorkers;
  return *instance;
}

void CopyWorkers::share(const Job& job) noexcept {
  const std::unique_lock lock(caller_, std::try_to_lock);
  if (lock && process_.load() == 0) start_threads();
  // a child of fork has a copy of the lock and the list, but not the threads
  if (!lock || threads_.empty() || process_.load() != getpid()) return work_alone(job);
  job_ = job;
  next_.store(0, std::memory_order_relaxed);
  // The orders of open_ and inside_ are sequential: a helper that arrives while the job is being closed
  // either finds it closed or is waited for.
  open_.store(true);
  calls_.fetch_add(1);
  calls_.notify_all();
  take_parts();
  open_.store(false);
  for (unsigned polls = 0; inside_.load() != 0; ++polls) {
    constexpr unsigned spins = 1000;  // then the helper has lost its core, perhaps to this thread
    polls < spins ? processor_pause() : std::this_thread::yield();
  }
}

void CopyWorkers::work_alone(const Job& job) const noexcept {
  for (std::size_t part = 0; part < job.parts; ++part) job.run(job.work, part);
}

void CopyWorkers::take_parts() noexcept {
  for (std::size_t part = next_.fetch_add(1); part < job_.parts; part = next_.fetch_add(1)) {
    job_.run(job_.work, part);
  }
}

void CopyWorkers::start_threads() noexcept {
  process_.store(getpid());
  const unsigned wanted = std::min(most_workers, cores() - 1);
  try {
    threads_.reserve(wanted);
    while (threads_.size() < wanted) {
      threads_.push_back(start_background_thread("penstock-copy", [this] { help(); }));
    }
  } catch (const std::system_error&) {
    // as many as the system allows
  } catch (const std::bad_alloc&) {
  }
}

void CopyWorkers::help() noexcept {
  for (std::uint32_t heard = 0;;) {
    heard = wait_for_call(heard);
    if (stopping_.load()) return;
    inside_.fetch_add(1);
    if (open_.load()) take_parts();
    inside_.fetch_sub(1);
  }
}

/// Returns the count of calls once it differs from `heard`.
std::uint32_t CopyWorkers::wait_for_call(std::uint32_t heard) const noexcept {
  const auto bedtime = std::chrono::steady_clock::now() + vigilance;
  while (calls_.load() == heard && std::chrono::steady_clock::now() < bedtime) processor_pause();
  calls_.wait(heard);
  return calls_.load();
}

void CopyWorkers::stop() noexcept {
  const std::int64_t process = process_.load();
  if (process != 0 && process != getpid()) return;  // in a child the lock may be held by no thread
  const std::lock_guard lock(caller_);
  process_.store(getpid());
  stopping_.store(true);
  calls_.fetch_add(1);
  calls_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::size_t CopyWorkers::threads() {
  const std::lock_guard lock(caller_);
  return threads_.size();
}

}  // namespace penstock::transports
