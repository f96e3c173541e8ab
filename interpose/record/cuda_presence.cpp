#include "interpose/record/cuda_presence.hpp"

#include <cuda.h>
#include <dlfcn.h>

namespace penstock::record {

namespace {

/// Returns null if libcuda is not loaded.
void* find_in_cuda(const char* name) noexcept {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* function = dlsym(library, name);
  dlclose(library);  // drops this function's reference only; it stays loaded
  return function;
}

}  // namespace

bool cuda_is_loaded() noexcept {
  return find_in_cuda("cuInit") != nullptr;
}

bool cuda_is_initialised() noexcept {
  const auto get_count = reinterpret_cast<decltype(&cuDeviceGetCount)>(find_in_cuda("cuDeviceGetCount"));
  int count = 0;
  return get_count != nullptr && get_count(&count) == CUDA_SUCCESS;
}

void copy_device_name(char* name, std::size_t size) noexcept {
  if (!cuda_is_initialised()) return;
  const auto get_device = reinterpret_cast<decltype(&cuCtxGetDevice)>(find_in_cuda("cuCtxGetDevice"));
  const auto get_name = reinterpret_cast<decltype(&cuDeviceGetName)>(find_in_cuda("cuDeviceGetName"));
  CUdevice device = 0;
  if (get_device == nullptr || get_device(&device) != CUDA_SUCCESS) device = 0;
  if (get_name != nullptr) get_name(name, static_cast<int>(size), device);
}

}  // namespace penstock::record
