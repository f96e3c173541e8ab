#include "stream.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <utility>

#include "activity.hpp"
#include "call.hpp"
#include "context.hpp"
#include "registry.hpp"

namespace simulated_gpu {
namespace {

constexpr int lowest_priority = 0;
constexpr int highest_priority = -5;

unsigned next_stream_id() {
  static std::atomic<unsigned> last{0};
  return ++last;
}

Registry<Stream, CUstream>& streams() {
  static auto& all = *new Registry<Stream, CUstream>;
  return all;
}

std::shared_ptr<Stream> per_thread_stream() {
  Context& context = current_context();
  thread_local std::map<unsigned, std::shared_ptr<Stream>> mine;
  std::shared_ptr<Stream>& stream = mine[context.id()];
  if (stream == nullptr) stream = context.open_stream(StreamKind::blocking, lowest_priority);
  return stream;
}

CUresult create(CUstream* handle, unsigned flags, int priority) {
  require(handle != nullptr && (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) == 0,
          CUDA_ERROR_INVALID_VALUE);
  const StreamKind kind = flags == CU_STREAM_DEFAULT ? StreamKind::blocking : StreamKind::non_blocking;
  *handle = streams().add(
      current_context().open_stream(kind, std::clamp(priority, highest_priority, lowest_priority)));
  return CUDA_SUCCESS;
}

}  // namespace

Stream::Stream(Context& context, StreamKind kind, int priority)
    : context_(context),
      kind_(kind),
      priority_(priority),
      id_(next_stream_id()),
      queue_(std::make_shared<WorkQueue>()) {}

Stream::~Stream() {
  queue_->close();
}

std::vector<WorkPoint> Stream::default_stream_rules() {
  std::vector<WorkPoint> points;
  const auto add = [&points](WorkQueue& queue) {
    if (WorkPoint point = queue.last(); !point.reached()) points.push_back(std::move(point));
  };
  if (kind_ == StreamKind::blocking) add(*context_.legacy_->queue_);
  if (kind_ == StreamKind::legacy) {
    for (const auto& queue : context_.queues(true)) add(*queue);
  }
  return points;
}

WorkPoint Stream::submit(std::function<void()> work, std::vector<WorkPoint> after) {
  // Queueing work takes its caller a microsecond or more on a GPU, and programs may build on that.
  const auto earliest_end = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
  const WorkPoint end = submit_now(std::move(work), std::move(after));
  while (std::chrono::steady_clock::now() < earliest_end) {
  }
  return end;
}

WorkPoint Stream::submit_now(std::function<void()> work, std::vector<WorkPoint> after) {
  if (kind_ == StreamKind::legacy) refuse_use_of_legacy_stream(context_);
  const std::scoped_lock lock(context_.submit_mutex_);
  if (capture_ != nullptr) {
    capture_->add(std::move(work));
    return {};
  }
  std::vector<WorkPoint> points = default_stream_rules();
  std::move(after.begin(), after.end(), std::back_inserter(points));
  return queue_->submit(std::move(work), std::move(points));
}

void Stream::perform(std::function<void()> work) {
  if (!begin_own()) {
    submit(std::move(work)).wait();
    return;
  }
  work();
  queue_->end_own();
}

bool Stream::begin_own() {
  if (kind_ == StreamKind::legacy) refuse_use_of_legacy_stream(context_);
  const std::scoped_lock lock(context_.submit_mutex_);
  return capture_ == nullptr && default_stream_rules().empty() && queue_->begin_own();
}

std::vector<WorkPoint> Stream::last() {
  if (kind_ == StreamKind::legacy) refuse_use_of_legacy_stream(context_);
  const std::scoped_lock lock(context_.submit_mutex_);
  if (capture_ != nullptr) {
    capture_->invalidate();
    throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  std::vector<WorkPoint> points;
  if (kind_ == StreamKind::legacy) points = default_stream_rules();
  points.push_back(queue_->last());
  return points;
}

void Stream::begin_capture(CUstreamCaptureMode mode) {
  require(kind_ != StreamKind::legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const std::scoped_lock lock(context_.submit_mutex_);
  require(capture_ == nullptr, CUDA_ERROR_ILLEGAL_STATE);
  capture_ = std::make_shared<Capture>(context_, kind_ == StreamKind::blocking, mode);
}

std::shared_ptr<Graph> Stream::end_capture() {
  const std::scoped_lock lock(context_.submit_mutex_);
  require(capture_ != nullptr, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  return std::exchange(capture_, nullptr)->end();
}

std::shared_ptr<Capture> Stream::capture() const {
  const std::scoped_lock lock(context_.submit_mutex_);
  return capture_;
}

std::shared_ptr<Stream> stream_of(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return current_context().legacy_stream();
  if (handle == CU_STREAM_PER_THREAD) return per_thread_stream();
  return streams().get(handle);
}

}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuStreamCreate(CUstream* handle, unsigned flags) {
  return driver_call(__func__, [&] { return create(handle, flags, lowest_priority); });
}

CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned flags, int priority) {
  return driver_call(__func__, [&] { return create(handle, flags, priority); });
}

// Work already queued is still done: the queue's worker ends after it.
CUresult cuStreamDestroy(CUstream handle) {
  return driver_call(__func__, [&] {
    streams().take(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver_call(__func__, [&] {
    if (least != nullptr) *least = lowest_priority;
    if (greatest != nullptr) *greatest = highest_priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return driver_call(__func__, [&] {
    require(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
    *flags =
        stream_of(handle)->kind() == StreamKind::non_blocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return driver_call(__func__, [&] {
    require(id != nullptr, CUDA_ERROR_INVALID_VALUE);
    *id = stream_of(handle)->id();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return driver_call(__func__, [&] {
    require(context != nullptr, CUDA_ERROR_INVALID_VALUE);
    *context = stream_of(handle)->context().handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return driver_call(__func__, [&] {
    require(device != nullptr, CUDA_ERROR_INVALID_VALUE);
    *device = stream_of(handle)->context().device().ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamQuery(CUstream handle) {
  return driver_call(__func__, [&] {
    for (const WorkPoint& point : stream_of(handle)->last()) {
      if (!point.reached()) return CUDA_ERROR_NOT_READY;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return driver_call(__func__, [&] {
    const auto stream = stream_of(handle);
    const WaitActivity activity(SIMULATED_GPU_WAIT_STREAM, stream->context(), stream->id());
    for (const WorkPoint& point : stream->last()) point.wait();
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return driver_call(__func__, [&] {
    require(function != nullptr, CUDA_ERROR_INVALID_VALUE);
    stream_of(handle)->submit([=] {
      const HostFunctionScope scope;
      function(data);
    });
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  return driver_call(__func__, [&] {
    require(callback != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
    stream_of(handle)->submit([=] {
      const HostFunctionScope scope;
      callback(handle, CUDA_SUCCESS, data);
    });
    return CUDA_SUCCESS;
  });
}
