#include "capture.hpp"

#include <algorithm>

#include "call.hpp"
#include "context.hpp"
#include "registry.hpp"
#include "stream.hpp"

namespace simulated_gpu {
namespace {

/// Guards all captures: there are few, and calls must see one moment of all of them.
std::recursive_mutex& captures_mutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

std::vector<Capture*>& captures() {
  static auto& all = *new std::vector<Capture*>;
  return all;
}

thread_local CUstreamCaptureMode mode_of_thread = CU_STREAM_CAPTURE_MODE_GLOBAL;

const void* this_thread() {
  return &mode_of_thread;
}

/// An instantiated graph.
struct ExecutableGraph {
  std::shared_ptr<const Graph> graph;
};

Registry<Graph, CUgraph>& graphs() {
  static auto& all = *new Registry<Graph, CUgraph>;
  return all;
}

Registry<ExecutableGraph, CUgraphExec>& executables() {
  static auto& all = *new Registry<ExecutableGraph, CUgraphExec>;
  return all;
}

/// Invalidates the captures for which `concerned` is true; if there are any, fails with `error`.
template <typename Concerned>
void refuse_if(Concerned concerned, CUresult error) {
  const std::scoped_lock lock(captures_mutex());
  bool refused = false;
  for (Capture* capture : captures()) {
    if (!concerned(*capture)) continue;
    capture->invalidate();
    refused = true;
  }
  require(!refused, error);
}

}  // namespace

Capture::Capture(Context& context, bool of_blocking_stream, CUstreamCaptureMode mode)
    : context_(context), of_blocking_stream_(of_blocking_stream), mode_(mode), thread_(this_thread()) {
  const std::scoped_lock lock(captures_mutex());
  captures().push_back(this);
}

Capture::~Capture() {
  const std::scoped_lock lock(captures_mutex());
  std::erase(captures(), this);
}

void Capture::add(std::function<void()> work) {
  const std::scoped_lock lock(captures_mutex());
  require(is_valid_, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  graph_->work.push_back(std::move(work));
}

void Capture::invalidate() noexcept {
  const std::scoped_lock lock(captures_mutex());
  is_valid_ = false;
}

bool Capture::is_valid() const noexcept {
  const std::scoped_lock lock(captures_mutex());
  return is_valid_;
}

std::shared_ptr<Graph> Capture::end() {
  const std::scoped_lock lock(captures_mutex());
  require(mode_ == CU_STREAM_CAPTURE_MODE_RELAXED || thread_ == this_thread(),
          CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  require(is_valid_, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  return graph_;
}

bool legacy_stream_is_captured(Context& context) {
  const std::scoped_lock lock(captures_mutex());
  return std::ranges::any_of(captures(), [&](const Capture* capture) {
    return &capture->context_ == &context && capture->of_blocking_stream_;
  });
}

void refuse_use_of_legacy_stream(Context& context) {
  refuse_if(
      [&](const Capture& capture) { return &capture.context_ == &context && capture.of_blocking_stream_; },
      CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

void refuse_beside_captures(Context& context) {
  refuse_if([&](const Capture& capture) { return &capture.context_ == &context; },
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void refuse_unsafe_call() {
  if (mode_of_thread == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  refuse_if(
      [](const Capture& capture) {
        if (capture.mode_ == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
        const bool is_mine = capture.thread_ == this_thread();
        return is_mine || (capture.mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                           mode_of_thread == CU_STREAM_CAPTURE_MODE_GLOBAL);
      },
      CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return driver_call(__func__, [&] {
    require(mode != nullptr, CUDA_ERROR_INVALID_VALUE);
    std::swap(mode_of_thread, *mode);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return driver_call(__func__, [&] {
    stream_of(handle)->begin_capture(mode);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return driver_call(__func__, [&] {
    require(graph != nullptr, CUDA_ERROR_INVALID_VALUE);
    *graph = nullptr;
    *graph = graphs().add(stream_of(handle)->end_capture());
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return driver_call(__func__, [&] {
    require(status != nullptr, CUDA_ERROR_INVALID_VALUE);
    const auto stream = stream_of(handle);
    require(stream->kind() != StreamKind::legacy || !legacy_stream_is_captured(stream->context()),
            CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    const auto capture = stream->capture();
    *status = capture == nullptr    ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->is_valid() ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                    : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return driver_call(__func__, [&] {
    require(executable != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
    *executable = executables().add(std::make_shared<ExecutableGraph>(ExecutableGraph{graphs().get(graph)}));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream handle) {
  return driver_call(__func__, [&] {
    stream_of(handle)->submit([graph = executables().get(executable)->graph] {
      for (const auto& work : graph->work) work();
    });
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return driver_call(__func__, [&] {
    executables().take(executable);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return driver_call(__func__, [&] {
    graphs().take(graph);
    return CUDA_SUCCESS;
  });
}
