// Work on a stream that does not end before the test says so.
#pragma once

#include <atomic>

#include "tests/transports/gpu_memory.hpp"

namespace penstock::transports::test {

/// Occupies a stream of the current context until release() or its own end.
class BusyStream {
 public:
  explicit BusyStream(CUstream stream) : stream_(stream) {
    REQUIRE_CUDA(cuLaunchHostFunc(
        stream, [](void* released) { static_cast<std::atomic<bool>*>(released)->wait(false); }, &released_));
  }
  ~BusyStream() {
    release();
    REQUIRE_CUDA(cuStreamSynchronize(stream_));
  }
  BusyStream(const BusyStream&) = delete;
  BusyStream& operator=(const BusyStream&) = delete;

  void release() noexcept {
    released_.store(true);
    released_.notify_all();
  }

 private:
  CUstream stream_;
  std::atomic<bool> released_{false};
};

/// A stream of the test's own, of the current context.
class OwnStream {
 public:
  explicit OwnStream(unsigned flags) { REQUIRE_CUDA(cuStreamCreate(&handle_, flags)); }
  ~OwnStream() { REQUIRE_CUDA(cuStreamDestroy(handle_)); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  [[nodiscard]] CUstream handle() const noexcept { return handle_; }

 private:
  CUstream handle_ = nullptr;
};

}  // namespace penstock::transports::test
