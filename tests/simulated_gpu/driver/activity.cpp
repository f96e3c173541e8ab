#include "activity.hpp"

#include <ctime>

#include <atomic>
#include <utility>

#include "context.hpp"
#include "pace.hpp"

namespace simulated_gpu {
namespace {

std::atomic<const SimulatedGpuObserver*> observer{nullptr};
std::atomic<std::uint32_t> last_correlation{0};

void place(SimulatedGpuActivity& activity, Context& context, unsigned stream) {
  activity.correlation = last_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  activity.device = static_cast<std::uint32_t>(context.device().ordinal);
  activity.context = context.id();
  activity.stream = stream;
}

/// The work, as slow as asked for, and with word to the observer.
std::function<void()> observed(Stream& stream, SimulatedGpuActivity activity, std::function<void()> work) {
  if (const std::uint64_t least_ns = shortest_ns(activity); least_ns != 0) {
    work = [least_ns, work = std::move(work)] {
      const std::uint64_t end_ns = monotonic_ns() + least_ns;
      work();
      sleep_until_ns(end_ns);
    };
  }
  const SimulatedGpuObserver* watching = observer.load(std::memory_order_acquire);
  if (watching == nullptr) return work;
  place(activity, stream.context(), stream.id());
  watching->issued(activity.correlation);
  return [watching, activity, work = std::move(work)]() mutable {
    activity.start_ns = watching->now_ns();
    work();
    activity.end_ns = watching->now_ns();
    watching->finished(&activity);
  };
}

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

WorkPoint submit_observed(Stream& stream, SimulatedGpuActivity activity, std::function<void()> work) {
  return stream.submit(observed(stream, activity, std::move(work)));
}

void perform_observed(Stream& stream, SimulatedGpuActivity activity, std::function<void()> work) {
  stream.perform(observed(stream, activity, std::move(work)));
}

WaitActivity::WaitActivity(SimulatedGpuWait wait, Context& context, unsigned stream, unsigned event)
    : observer_(observer.load(std::memory_order_acquire)) {
  if (observer_ == nullptr) return;
  activity_.kind = SIMULATED_GPU_WAIT;
  activity_.wait = wait;
  activity_.event = event;
  place(activity_, context, stream);
  observer_->issued(activity_.correlation);
  activity_.start_ns = observer_->now_ns();
}

WaitActivity::~WaitActivity() {
  if (observer_ == nullptr) return;
  activity_.end_ns = observer_->now_ns();
  observer_->finished(&activity_);
}

}  // namespace simulated_gpu

void simulated_gpu_observe(const SimulatedGpuObserver* watching) {
  simulated_gpu::observer = watching;
}
