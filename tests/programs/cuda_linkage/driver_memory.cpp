#include <cuda.h>

#include <cstdio>
#include <cstdlib>

#include "device_memory.hpp"

namespace penstock::test_support {
namespace {

void require(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "CUDA driver: error %d\n", static_cast<int>(result));
  std::exit(1);
}

CUdeviceptr address_of(const void* memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

}  // namespace

bool make_context(int rank) {
  int count = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0) return false;
  CUdevice device = 0;
  CUcontext context = nullptr;
  require(cuDeviceGet(&device, rank % count));
  // a context of the program's own, not the primary one that the runtime API would use
  require(cuCtxCreate(&context, nullptr, 0, device));
  return true;
}

void* allocate(std::size_t bytes) {
  CUdeviceptr memory = 0;
  require(cuMemAlloc(&memory, bytes));
  return reinterpret_cast<void*>(memory);
}
void release(void* memory) {
  require(cuMemFree(address_of(memory)));
}
void write(void* memory, const void* source, std::size_t bytes) {
  require(cuMemcpyHtoD(address_of(memory), source, bytes));
}
void read(void* destination, const void* memory, std::size_t bytes) {
  require(cuMemcpyDtoH(destination, address_of(memory), bytes));
}

}  // namespace penstock::test_support
