#include "runtime_call.hpp"

#include <map>
#include <mutex>

#include "simulated_gpu.h"

namespace simulated_gpu::runtime {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int device = 0;

struct Primaries {
  std::mutex mutex;
  std::map<int, CUcontext> retained;
};
Primaries& primaries() {
  static auto& all = *new Primaries;
  return all;
}

CUresult initialise() {
  static const CUresult result = cuInit(0);
  return result;
}

}  // namespace

cudaError_t keep(CUresult result) noexcept {
  const auto error = static_cast<cudaError_t>(result);
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

int current_device() noexcept {
  return device;
}

CUresult primary_context(int ordinal, CUcontext* context) noexcept {
  const std::scoped_lock lock(primaries().mutex);
  CUcontext& retained = primaries().retained[ordinal];
  if (retained == nullptr) {
    if (const CUresult result = cuDevicePrimaryCtxRetain(&retained, ordinal); result != CUDA_SUCCESS) {
      primaries().retained.erase(ordinal);
      return result;
    }
  }
  *context = retained;
  return CUDA_SUCCESS;
}

CUresult set_current_device(int ordinal) noexcept {
  CUcontext context = nullptr;
  if (const CUresult result = initialise(); result != CUDA_SUCCESS) return result;
  if (const CUresult result = primary_context(ordinal, &context); result != CUDA_SUCCESS) return result;
  device = ordinal;
  return cuCtxSetCurrent(context);
}

CUresult reset_current_device() noexcept {
  const std::scoped_lock lock(primaries().mutex);
  if (primaries().retained.erase(device) == 0) return CUDA_SUCCESS;
  cuCtxSetCurrent(nullptr);
  return cuDevicePrimaryCtxReset(device);
}

CUresult enter(const char* function) noexcept {
  if (const int injected = simulated_gpu_injected_fault(function); injected != 0) {
    return static_cast<CUresult>(injected);
  }
  if (const CUresult result = initialise(); result != CUDA_SUCCESS) return result;
  CUcontext context = nullptr;
  if (const CUresult result = cuCtxGetCurrent(&context); result != CUDA_SUCCESS) return result;
  if (context == nullptr) return set_current_device(device);
  return CUDA_SUCCESS;
}

}  // namespace simulated_gpu::runtime

using namespace simulated_gpu::runtime;

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  return last_error;
}
