// Work of the application's own on a GPU that does not end before the test says so.
#pragma once

#include <cuda_runtime.h>
#include <sched.h>

#include <atomic>

namespace penstock::test_support {

/// The legacy stream of the current device is busy while one lives.
class BusyGpu {
 public:
  BusyGpu() {
    cudaLaunchHostFunc(
        nullptr,
        [](void* over) {
          while (!static_cast<std::atomic<bool>*>(over)->load()) ::sched_yield();
        },
        &over_);
  }
  ~BusyGpu() {
    over_ = true;
    cudaStreamSynchronize(nullptr);
  }
  BusyGpu(const BusyGpu&) = delete;
  BusyGpu& operator=(const BusyGpu&) = delete;

 private:
  std::atomic<bool> over_{false};
};

}  // namespace penstock::test_support
