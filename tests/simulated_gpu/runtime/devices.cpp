// Devices, versions and errors.
#include <cstdio>
#include <cstring>

#include "runtime_call.hpp"

using namespace simulated_gpu::runtime;

namespace {

struct ErrorName {
  cudaError_t error;
  const char* name;
};

constexpr ErrorName error_names[] = {
    {cudaSuccess, "cudaSuccess"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation"},
    {cudaErrorInitializationError, "cudaErrorInitializationError"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration"},
    {cudaErrorNoDevice, "cudaErrorNoDevice"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized"},
    {cudaErrorMapBufferObjectFailed, "cudaErrorMapBufferObjectFailed"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle"},
    {cudaErrorNotReady, "cudaErrorNotReady"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported"},
};

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  for (const ErrorName& row : error_names) {
    if (row.error == error) return row.name;
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorInvalidConfiguration) return "invalid configuration argument";
  const char* text = nullptr;
  cuGetErrorString(static_cast<CUresult>(error), &text);
  return text == nullptr ? "unrecognized error code" : text;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return keep(CUDA_ERROR_INVALID_VALUE);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  return keep(cuDriverGetVersion(version));
}

// As NVIDIA's, these two make no context.
cudaError_t cudaGetDeviceCount(int* count) {
  if (const CUresult result = cuInit(0); result != CUDA_SUCCESS) return keep(result);
  return keep(cuDeviceGetCount(count));
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return keep(CUDA_ERROR_INVALID_VALUE);
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return keep(set_current_device(device));
}

cudaError_t cudaDeviceReset() {
  return keep(reset_current_device());
}

cudaError_t cudaDeviceSynchronize() {
  return runtime_call(__func__, [] { return cuCtxSynchronize(); });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return runtime_call(__func__, [&] {
    return cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device);
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return runtime_call(__func__, [&] {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *properties = {};
    const auto attribute = [device](CUdevice_attribute which) {
      int value = 0;
      cuDeviceGetAttribute(&value, which, device);
      return value;
    };
    CUresult result = cuDeviceGetName(properties->name, sizeof properties->name, device);
    if (result == CUDA_SUCCESS) result = cuDeviceGetUuid(&properties->uuid, device);
    if (result == CUDA_SUCCESS) result = cuDeviceTotalMem(&properties->totalGlobalMem, device);
    if (result != CUDA_SUCCESS) return result;
    properties->sharedMemPerBlock =
        static_cast<std::size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
    properties->warpSize = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    properties->maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    properties->major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    properties->minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    properties->multiProcessorCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    properties->canMapHostMemory = attribute(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
    properties->pciBusID = attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    properties->asyncEngineCount = attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    properties->unifiedAddressing = attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int capacity, int device) {
  return runtime_call(__func__, [&] { return cuDeviceGetPCIBusId(bus_id, capacity, device); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return runtime_call(__func__, [&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return runtime_call(__func__, [&] { return cuDeviceCanAccessPeer(can, device, peer); });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return runtime_call(__func__, [&] {
    CUcontext context = nullptr;
    if (const CUresult result = primary_context(peer, &context); result != CUDA_SUCCESS) return result;
    return cuCtxEnablePeerAccess(context, flags);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return runtime_call(__func__, [&] {
    CUcontext context = nullptr;
    if (const CUresult result = primary_context(peer, &context); result != CUDA_SUCCESS) return result;
    return cuCtxDisablePeerAccess(context);
  });
}
