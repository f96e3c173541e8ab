#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "device_memory.hpp"

namespace penstock::test_support {
namespace {

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA runtime: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

}  // namespace

bool make_context(int rank) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
  require(cudaSetDevice(rank % count));
  require(cudaFree(nullptr));
  return true;
}

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, bytes));
  return memory;
}
void release(void* memory) {
  require(cudaFree(memory));
}
void write(void* memory, const void* source, std::size_t bytes) {
  require(cudaMemcpy(memory, source, bytes, cudaMemcpyHostToDevice));
}
void read(void* destination, const void* memory, std::size_t bytes) {
  require(cudaMemcpy(destination, memory, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace penstock::test_support
