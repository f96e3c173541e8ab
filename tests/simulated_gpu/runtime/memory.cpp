// Memory and copies.
#include <cstring>

#include "runtime_call.hpp"

using namespace simulated_gpu::runtime;

namespace {

CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// A driver call that gives an address, for a pointer.
template <typename Call>
CUresult into(void** pointer, Call&& call) {
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr address = 0;
  const CUresult result = call(&address);
  if (result == CUDA_SUCCESS) *pointer = reinterpret_cast<void*>(address);
  return result;
}

/// The runtime takes both sides by address, whatever the kind says, except kinds that are none.
bool is_kind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

CUDA_MEMCPY2D rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                   size_t height) {
  CUDA_MEMCPY2D what{};
  what.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  what.dstDevice = address_of(to);
  what.dstPitch = to_pitch;
  what.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  what.srcDevice = address_of(from);
  what.srcPitch = from_pitch;
  what.WidthInBytes = width;
  what.Height = height;
  return what;
}

/// What cudaMemcpyPeer names by device.
CUresult contexts_of(int to_device, int from_device, CUcontext* to, CUcontext* from) {
  const CUresult result = primary_context(to_device, to);
  return result == CUDA_SUCCESS ? primary_context(from_device, from) : result;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return runtime_call(__func__, [&] {
    if (pointer != nullptr && bytes == 0) {  // the runtime allows it, the driver does not
      *pointer = nullptr;
      return CUDA_SUCCESS;
    }
    return into(pointer, [&](CUdeviceptr* address) { return cuMemAlloc(address, bytes); });
  });
}

cudaError_t cudaFree(void* pointer) {
  return runtime_call(__func__, [&] { return cuMemFree(address_of(pointer)); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return runtime_call(__func__, [&] {
    return into(pointer,
                [&](CUdeviceptr* address) { return cuMemAllocPitch(address, pitch, width, height, 16); });
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return runtime_call(__func__, [&] { return cuMemAllocHost(pointer, bytes); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return runtime_call(__func__, [&] { return cuMemHostAlloc(pointer, bytes, flags); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return runtime_call(__func__, [&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeHost(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return runtime_call(__func__, [&] { return cuMemHostRegister(pointer, bytes, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return runtime_call(__func__, [&] { return cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return runtime_call(__func__, [&] {
    return into(device,
                [&](CUdeviceptr* address) { return cuMemHostGetDevicePointer(address, host, flags); });
  });
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return runtime_call(__func__, [&] {
    return into(pointer, [&](CUdeviceptr* address) { return cuMemAllocManaged(address, bytes, flags); });
  });
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    return into(pointer, [&](CUdeviceptr* address) { return cuMemAllocAsync(address, bytes, stream); });
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return runtime_call(__func__, [&] { return cuMemFreeAsync(address_of(pointer), stream); });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return runtime_call(__func__, [&] { return cuMemGetInfo(free, total); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return runtime_call(__func__, [&] {
    if (attributes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *attributes = {};
    unsigned type = 0;
    bool managed = false;
    int device = -1;
    void* device_pointer = nullptr;
    void* host_pointer = nullptr;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void* values[] = {&type, &managed, &device, &device_pointer, &host_pointer};
    const CUresult result = cuPointerGetAttributes(5, which, values, address_of(pointer));
    if (result != CUDA_SUCCESS) return result;
    attributes->device = device;
    attributes->devicePointer = device_pointer;
    attributes->hostPointer = type == 0 ? const_cast<void*>(pointer) : host_pointer;
    attributes->type = managed                        ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                       : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                                      : cudaMemoryTypeUnregistered;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (!is_kind(kind)) return keep(static_cast<CUresult>(cudaErrorInvalidMemcpyDirection));
  return runtime_call(__func__, [&] { return cuMemcpy(address_of(to), address_of(from), bytes); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (!is_kind(kind)) return keep(static_cast<CUresult>(cudaErrorInvalidMemcpyDirection));
  return runtime_call(__func__,
                      [&] { return cuMemcpyAsync(address_of(to), address_of(from), bytes, stream); });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return runtime_call(__func__, [&] {
    CUcontext to_context = nullptr;
    CUcontext from_context = nullptr;
    const CUresult result = contexts_of(to_device, from_device, &to_context, &from_context);
    if (result != CUDA_SUCCESS) return result;
    return cuMemcpyPeer(address_of(to), to_context, address_of(from), from_context, bytes);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    CUcontext to_context = nullptr;
    CUcontext from_context = nullptr;
    const CUresult result = contexts_of(to_device, from_device, &to_context, &from_context);
    if (result != CUDA_SUCCESS) return result;
    return cuMemcpyPeerAsync(address_of(to), to_context, address_of(from), from_context, bytes, stream);
  });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  if (!is_kind(kind)) return keep(static_cast<CUresult>(cudaErrorInvalidMemcpyDirection));
  return runtime_call(__func__, [&] {
    const CUDA_MEMCPY2D what = rows(to, to_pitch, from, from_pitch, width, height);
    return cuMemcpy2DUnaligned(&what);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!is_kind(kind)) return keep(static_cast<CUresult>(cudaErrorInvalidMemcpyDirection));
  return runtime_call(__func__, [&] {
    const CUDA_MEMCPY2D what = rows(to, to_pitch, from, from_pitch, width, height);
    return cuMemcpy2DAsync(&what, stream);
  });
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  return runtime_call(
      __func__, [&] { return cuMemsetD8(address_of(pointer), static_cast<unsigned char>(value), bytes); });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    return cuMemsetD8Async(address_of(pointer), static_cast<unsigned char>(value), bytes, stream);
  });
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return runtime_call(__func__, [&] {
    return cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle*>(handle), address_of(pointer));
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return runtime_call(__func__, [&] {
    CUipcMemHandle same{};
    std::memcpy(&same, &handle, sizeof same);
    return into(pointer, [&](CUdeviceptr* address) { return cuIpcOpenMemHandle(address, same, flags); });
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return runtime_call(__func__, [&] { return cuIpcCloseMemHandle(address_of(pointer)); });
}
