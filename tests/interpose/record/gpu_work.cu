#include "gpu_work.hpp"

#include <stdexcept>
#include <string>

namespace penstock::test {

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

void check(CUresult result) {
  if (result != CUDA_SUCCESS) throw std::runtime_error("CUDA driver: error " + std::to_string(result));
}

}  // namespace

__global__ void count_up(unsigned* numbers) {
  numbers[threadIdx.x] += 1;
}

GpuWork::GpuWork() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  check(cudaMalloc(reinterpret_cast<void**>(&device_), bytes));
  check(cudaMallocHost(&host_, bytes));
}

GpuWork::~GpuWork() {
  cudaFreeHost(host_);
  cudaFree(device_);
  cudaStreamDestroy(stream_);
}

void GpuWork::kernel() {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  config.stream = stream_;
  check(cudaLaunchKernelEx(&config, count_up, device_));
}
void GpuWork::copy_to_host() {
  check(cudaMemcpyAsync(host_, device_, bytes, cudaMemcpyDeviceToHost, stream_));
}
void GpuWork::set() {
  check(cudaMemsetAsync(device_, 0, bytes, stream_));
}
void GpuWork::wait() {
  check(cudaStreamSynchronize(stream_));
}

void GpuWork::driver_copy_to_host() {
  check(cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(host_), reinterpret_cast<CUdeviceptr>(device_), bytes,
                      stream_));
}
void GpuWork::driver_set() {
  check(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(device_), 0, bytes, stream_));
}
void GpuWork::driver_wait() {
  check(cuStreamSynchronize(stream_));
}

bool GpuWork::there_is_a_gpu() {
  int count = 0;
  return cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0;
}

}  // namespace penstock::test
