// Contexts, which of them is current in a thread, and their streams. A context must outlive its streams'
// work, so a destroyed one only loses its handle, streams and allocations; the object stays until the process
// ends.
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "device.hpp"
#include "stream.hpp"

namespace simulated_gpu {

class Context {
 public:
  Context(Device& device, unsigned flags);

  [[nodiscard]] Device& device() const noexcept { return device_; }
  [[nodiscard]] unsigned id() const noexcept { return id_; }
  [[nodiscard]] unsigned flags() const noexcept { return flags_; }
  [[nodiscard]] CUcontext handle() noexcept { return reinterpret_cast<CUcontext>(this); }

  [[nodiscard]] const std::shared_ptr<Stream>& legacy_stream() const noexcept { return legacy_; }
  [[nodiscard]] std::shared_ptr<Stream> open_stream(StreamKind kind, int priority);
  /// Of all streams, also of destroyed ones that still have work.
  [[nodiscard]] std::vector<std::shared_ptr<WorkQueue>> queues(bool blocking_only);

  /// Waits for all work queued so far in all streams.
  void synchronise();
  /// The same; meanwhile no other thread can queue any.
  void synchronise_and_hold_up_others();

  /// Errors as cuCtxEnablePeerAccess and cuCtxDisablePeerAccess.
  void enable_peer(const Device& peer);
  void disable_peer(const Device& peer);
  [[nodiscard]] bool reaches(const Device& other);

 private:
  friend class Stream;
  struct OpenQueue {
    bool blocking;
    std::weak_ptr<Stream> stream;
    std::shared_ptr<WorkQueue> queue;
  };

  Device& device_;
  unsigned flags_;
  unsigned id_;
  std::mutex mutex_;         // queues_, peers_
  std::mutex submit_mutex_;  // makes "all work queued before" one moment across the context's streams
  std::vector<OpenQueue> queues_;
  std::set<int> peers_;
  std::shared_ptr<Stream> legacy_;
};

/// Fails with CUDA_ERROR_INVALID_CONTEXT where none is current, CONTEXT_IS_DESTROYED where it was destroyed.
[[nodiscard]] Context& current_context();
/// Fails with CUDA_ERROR_INVALID_CONTEXT for a handle that is none.
[[nodiscard]] Context& context_of(CUcontext handle);
[[nodiscard]] std::vector<std::shared_ptr<Context>> all_contexts();
/// The device's primary context if it is active, else null.
[[nodiscard]] Context* active_primary(const Device& device);

}  // namespace simulated_gpu
