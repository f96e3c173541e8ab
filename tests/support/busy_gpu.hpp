// Work of the application's own on a GPU that does not end before the test says so.
#pragma once

#include <cuda_runtime.h>
#include <sched.h>

#include <atomic>

namespace penstock::test_support {

/// A stream, which must live longer, is busy until it is told to end, or while one lives; by default the
/// legacy stream of the current device.
class BusyGpu {
 public:
  explicit BusyGpu(cudaStream_t stream = nullptr) : stream_(stream) {
    cudaLaunchHostFunc(
        stream_,
        [](void* over) {
          while (!static_cast<std::atomic<bool>*>(over)->load()) ::sched_yield();
        },
        &over_);
  }
  ~BusyGpu() {
    end();
    cudaStreamSynchronize(stream_);
  }
  BusyGpu(const BusyGpu&) = delete;
  BusyGpu& operator=(const BusyGpu&) = delete;
  void end() { over_ = true; }

 private:
  cudaStream_t stream_;
  std::atomic<bool> over_{false};
};

}  // namespace penstock::test_support
