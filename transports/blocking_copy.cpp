// download and upload of staged.hpp: blocking copies between a place and plain host memory. Pinned host
// memory is copied directly; pageable memory through a pinned bounce in two halves, the CPU emptying or
// filling one while the GPU copies the other. Large contiguous downloads to pageable memory are left to the
// driver.
#include <algorithm>
#include <array>
#include <cstring>

#include "transports/copy.hpp"
#include "transports/cuda/context.hpp"
#include "transports/cuda/pinned_memory.hpp"
#include "transports/cuda/stream_order.hpp"
#include "transports/guarded.hpp"
#include "transports/staged.hpp"

namespace penstock::transports {
namespace {

using cuda::Bounce;

/// Above this the driver's own download to pageable memory (19 GB/s on an H200 host) beats ours (14, the
/// speed of one thread's memcpy).
constexpr std::size_t bounce_download_bytes = Bounce::half_bytes;

/// One blocking copy between `place`, which lies on a device, and `host`. When it goes, also after an error,
/// the GPU has done everything it queued. Thread: one at a time.
class BlockingCopy {
 public:
  BlockingCopy(const Place& place, cuda::ContextRef context) noexcept
      : place_(place), cursor_(place.layout), context_(std::move(context)) {}
  ~BlockingCopy() {
    for (std::size_t step = 0; step < marks_.size(); ++step) static_cast<void>(wait(step));
  }
  BlockingCopy(const BlockingCopy&) = delete;
  BlockingCopy& operator=(const BlockingCopy&) = delete;

  [[nodiscard]] Status download(char* host) {
    if (Status begun = begin(cuda::Lane::download); !begun.ok()) return begun;
    const bool driver_is_faster = place_.layout.is_contiguous() && bytes_ > bounce_download_bytes;
    if (inspect(host).kind != BufferKind::pinned && !driver_is_faster) bounce_ = Bounce::take(context_);
    if (bounce_ == nullptr) {
      if (Status queued = mark(0, copy_out(host, Side::host, place_, cursor_, bytes_, stream_)); !queued.ok())
        return queued;
      return wait(0);
    }
    for (std::size_t step = 0; step <= steps(); ++step) {  // step n is queued before step n-1 is waited for
      if (step < steps()) {
        Status copied = copy_out(bounce_->half(step), Side::host, place_, cursor_, step_bytes(step), stream_);
        if (Status queued = mark(step, copied); !queued.ok()) return queued;
      }
      if (step == 0) continue;
      if (Status arrived = wait(step - 1); !arrived.ok()) return arrived;
      std::memcpy(host + (step - 1) * Bounce::half_bytes, bounce_->half(step - 1), step_bytes(step - 1));
    }
    return {};
  }

  [[nodiscard]] Status upload(const char* host) {
    if (Status begun = begin(cuda::Lane::upload); !begun.ok()) return begun;
    if (inspect(host).kind != BufferKind::pinned) bounce_ = Bounce::take(context_);
    if (bounce_ == nullptr) {
      if (Status queued = mark(0, copy_in(place_, cursor_, host, Side::host, bytes_, stream_)); !queued.ok())
        return queued;
      return wait(0);
    }
    for (std::size_t step = 0; step < steps(); ++step) {
      if (Status free = wait(step); !free.ok()) return free;  // the half's last user, two steps ago
      std::memcpy(bounce_->half(step), host + step * Bounce::half_bytes, step_bytes(step));
      Status copied = copy_in(place_, cursor_, bounce_->half(step), Side::host, step_bytes(step), stream_);
      if (Status queued = mark(step, copied); !queued.ok()) return queued;
    }
    if (Status done = wait(0); !done.ok()) return done;
    return wait(1);
  }

 private:
  [[nodiscard]] Status begin(cuda::Lane lane) noexcept {
    if (Status made = context_->stream(lane, stream_); !made.ok()) return made;
    for (auto& each : marks_) {
      if (Status taken = cuda::Context::take_event(context_, each); !taken.ok()) return taken;
    }
    return cuda::order_after_application(context_, stream_);
  }
  [[nodiscard]] std::size_t steps() const noexcept {
    return (bytes_ + Bounce::half_bytes - 1) / Bounce::half_bytes;
  }
  [[nodiscard]] std::size_t step_bytes(std::size_t step) const noexcept {
    return std::min(Bounce::half_bytes, bytes_ - step * Bounce::half_bytes);
  }
  /// Marks where the step's copies end, also when queueing them failed half way.
  [[nodiscard]] Status mark(std::size_t step, const Status& copies) noexcept {
    Status marked = marks_[step % 2].record(stream_);
    return copies.ok() ? marked : copies;
  }
  [[nodiscard]] Status wait(std::size_t step) const noexcept {
    return marks_[step % 2] ? marks_[step % 2].wait() : Status{};
  }

  const Place& place_;
  LayoutCursor cursor_;
  cuda::ContextRef context_;
  const std::size_t bytes_ = place_.layout.bytes();
  CUstream stream_ = nullptr;
  Bounce::Loan bounce_;
  std::array<cuda::Event, 2> marks_;
};

/// Runs `copy(BlockingCopy&)` in the context that the place's buffer belongs to.
template <class Copy>
Status on_device(const Place& place, Copy copy) noexcept {
  return guarded([&]() -> Status {
    const cuda::ContextRef context = cuda::Context::of(place.buffer);
    if (context == nullptr) return cuda::no_driver();
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return scope.status();
    BlockingCopy blocking_copy(place, context);
    return copy(blocking_copy);
  });
}

}  // namespace

Status download(void* host, const Place& source) noexcept {
  const std::size_t bytes = source.layout.bytes();
  if (bytes == 0) return {};
  if (source.buffer.kind == BufferKind::unknown) return {Code::bad_argument, "device memory that was freed"};
  if (!lives_on_device(source.buffer.kind)) {
    LayoutCursor cursor(source.layout);
    return copy_out_host(host, source, cursor, bytes);
  }
  return on_device(source, [&](BlockingCopy& copy) { return copy.download(static_cast<char*>(host)); });
}

Status upload(const Place& destination, const void* host) noexcept {
  const std::size_t bytes = destination.layout.bytes();
  if (bytes == 0) return {};
  if (destination.buffer.kind == BufferKind::unknown)
    return {Code::bad_argument, "device memory that was freed"};
  if (!lives_on_device(destination.buffer.kind)) {
    LayoutCursor cursor(destination.layout);
    return copy_in_host(destination, cursor, host, bytes);
  }
  return on_device(destination,
                   [&](BlockingCopy& copy) { return copy.upload(static_cast<const char*>(host)); });
}

}  // namespace penstock::transports
