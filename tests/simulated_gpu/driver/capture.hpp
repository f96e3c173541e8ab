// Stream capture: work that is noted down in a graph instead of being done, and what it forbids meanwhile. A
// graph is what one stream was given, in order: events between captured streams are not simulated.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace simulated_gpu {

class Context;

struct Graph {
  std::vector<std::function<void()>> work;
};

/// One capture, from its begin to its end. Thread: any.
class Capture {
 public:
  Capture(Context& context, bool of_blocking_stream, CUstreamCaptureMode mode);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void add(std::function<void()> work);
  void invalidate() noexcept;
  [[nodiscard]] bool is_valid() const noexcept;
  /// Fails with CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD or _INVALIDATED.
  [[nodiscard]] std::shared_ptr<Graph> end();

 private:
  friend void refuse_use_of_legacy_stream(Context& context);
  friend void refuse_beside_captures(Context& context);
  friend void refuse_unsafe_call();
  friend bool legacy_stream_is_captured(Context& context);

  Context& context_;
  const bool of_blocking_stream_;
  const CUstreamCaptureMode mode_;
  const void* const thread_;
  bool is_valid_ = true;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
};

/// The legacy stream would have to wait for a blocking stream that captures.
[[nodiscard]] bool legacy_stream_is_captured(Context& context);
/// Then invalidates those captures and fails with CUDA_ERROR_STREAM_CAPTURE_IMPLICIT.
void refuse_use_of_legacy_stream(Context& context);
/// For calls that concern all streams of a context: invalidates its captures and fails with
/// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, in every mode.
void refuse_beside_captures(Context& context);
/// For calls that might disturb a capture, unless this thread's mode is relaxed: the same.
void refuse_unsafe_call();

}  // namespace simulated_gpu
