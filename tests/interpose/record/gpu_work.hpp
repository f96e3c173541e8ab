// Work for a GPU, through the runtime as applications do it and through the driver as Penstock does.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>

namespace penstock::test {

/// Owns a stream and some memory. Errors: std::runtime_error.
class GpuWork {
 public:
  static constexpr std::size_t bytes = 1 << 20;

  GpuWork();
  ~GpuWork();
  GpuWork(const GpuWork&) = delete;
  GpuWork& operator=(const GpuWork&) = delete;

  // Each issues one thing, by the runtime.
  void kernel();
  void copy_to_host();
  void set();
  void wait();

  // The same by the driver.
  void driver_copy_to_host();
  void driver_set();
  void driver_wait();

  [[nodiscard]] static bool there_is_a_gpu();

 private:
  cudaStream_t stream_ = nullptr;
  unsigned* device_ = nullptr;
  void* host_ = nullptr;
};

}  // namespace penstock::test
