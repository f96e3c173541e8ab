// Stream-ordered memory: cuMemAllocAsync from the device's default pool. An allocation has its address at
// once and loses its memory when the stream reaches the free.
#include <map>

#include "activity.hpp"
#include "call.hpp"
#include "memory.hpp"

using namespace simulated_gpu;

namespace {

/// Each device has one pool, the default one; its handle is the device's address.
CUmemoryPool pool_of(Device& device) {
  return reinterpret_cast<CUmemoryPool>(&device);
}

}  // namespace

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  return driver_call(__func__, [&] {
    require(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
    *pool = pool_of(device_at(ordinal));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  return driver_call(__func__, [&] {
    require(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
    *pool = pool_of(device_at(ordinal));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream handle) {
  return driver_call(__func__, [&] {
    require(address != nullptr && bytes > 0, CUDA_ERROR_INVALID_VALUE);
    Device& device = stream_of(handle)->context().device();
    *address = allocate_on_device(MemoryKind::pool, device, nullptr, bytes)->base;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  return driver_call(__func__, [&] {
    const auto stream = stream_of(handle);
    const AllocationRef allocation = find_allocation(address);
    require(allocation != nullptr && allocation->base == address, CUDA_ERROR_INVALID_VALUE);
    require(allocation->kind == MemoryKind::pool || allocation->kind == MemoryKind::device,
            CUDA_ERROR_INVALID_VALUE);
    take_allocation(address, allocation->kind);
    stream->submit([allocation] { free_on_device(*allocation); });
    return CUDA_SUCCESS;
  });
}
