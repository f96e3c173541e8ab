// Work of the GPU that goes on until it is told to end.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <thread>

namespace penstock::programs {

/// On a stream, which must live longer; the legacy one by default. It ends at the latest when this does.
class UntilTold {
 public:
  explicit UntilTold(cudaStream_t stream = nullptr) : stream_(stream) {
    cudaLaunchHostFunc(
        stream_,
        [](void* told) {
          while (!static_cast<std::atomic<bool>*>(told)->load()) std::this_thread::yield();
        },
        &told_);
  }
  ~UntilTold() {
    tell();
    cudaStreamSynchronize(stream_);
  }
  UntilTold(const UntilTold&) = delete;
  UntilTold& operator=(const UntilTold&) = delete;
  void tell() { told_ = true; }

 private:
  cudaStream_t stream_;
  std::atomic<bool> told_ = false;
};

}  // namespace penstock::programs
