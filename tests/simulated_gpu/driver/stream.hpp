// A stream: a work queue of a context, with the default-stream rules. Work of the legacy stream waits for all
// work queued before in the context's blocking streams, and theirs for the legacy stream's.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>

#include "capture.hpp"
#include "work_queue.hpp"

namespace simulated_gpu {

class Context;

enum class StreamKind { legacy, blocking, non_blocking };

class Stream {
 public:
  Stream(Context& context, StreamKind kind, int priority);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Queues work under the default-stream rules.
  WorkPoint submit(std::function<void()> work, std::vector<WorkPoint> after = {});
  /// Does work under the same rules before it returns; a captured stream's graph does it later.
  void perform(std::function<void()> work);
  /// The end of all that the stream now stands for (the legacy stream: of the blocking streams too).
  [[nodiscard]] std::vector<WorkPoint> last();

  /// From now on work goes to a graph. Fails with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED or _ILLEGAL_STATE.
  void begin_capture(CUstreamCaptureMode mode);
  /// Fails with CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, or as Capture::end().
  [[nodiscard]] std::shared_ptr<Graph> end_capture();
  /// Null: it captures nothing.
  [[nodiscard]] std::shared_ptr<Capture> capture() const;

  [[nodiscard]] Context& context() const noexcept { return context_; }
  [[nodiscard]] StreamKind kind() const noexcept { return kind_; }
  [[nodiscard]] unsigned id() const noexcept { return id_; }
  [[nodiscard]] int priority() const noexcept { return priority_; }

 private:
  WorkPoint submit_now(std::function<void()> work, std::vector<WorkPoint> after);
  /// Whether nothing is left that the stream's next work must wait for: WorkQueue::begin_own.
  [[nodiscard]] bool begin_own();
  friend class Context;
  std::vector<WorkPoint> default_stream_rules();

  Context& context_;
  StreamKind kind_;
  int priority_;
  unsigned id_;
  std::shared_ptr<WorkQueue> queue_;
  std::shared_ptr<Capture> capture_;  ///< guarded by the context's submit_mutex_
};

/// The stream behind a handle: null and CU_STREAM_LEGACY are the current context's legacy stream,
/// CU_STREAM_PER_THREAD the calling thread's own. Fails with CUDA_ERROR_INVALID_CONTEXT or _HANDLE.
[[nodiscard]] std::shared_ptr<Stream> stream_of(CUstream handle);

}  // namespace simulated_gpu
