// Questions about the library and its devices: versions, names, attributes, peers, errors, entry points by
// name.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "call.hpp"
#include "device.hpp"
#include "machine.hpp"
#include "simulated_gpu.h"

const int simulated_gpu_marker = 1;

void simulated_gpu_say_unknown(const char* kind, const char* name) {
  static const bool verbose = std::getenv("SIMULATED_GPU_VERBOSE") != nullptr;
  if (verbose) std::fprintf(stderr, "simulated GPU: %s %s is not simulated\n", kind, name);
}

namespace simulated_gpu {
namespace {

/// Text into a caller's buffer of `capacity` bytes, cut to fit.
CUresult give_text(char* to, int capacity, const std::string& text) {
  require(to != nullptr && capacity > 0, CUDA_ERROR_INVALID_VALUE);
  std::snprintf(to, static_cast<std::size_t>(capacity), "%s", text.c_str());
  return CUDA_SUCCESS;
}

/// Figures of an H100-like device; only those that a program would size itself by.
bool attribute_of(const Device& device, CUdevice_attribute attribute, int& value) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
      value = 1024;
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      value = 2147483647;
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      value = 49152;
      return true;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      value = 32;
      return true;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      value = 4;
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      value = 2048;
      return true;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      value = 3;
      return true;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      value = device.number + 1;
      return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      value = 9;
      return true;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      value = 0;
      return true;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
    case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
      value = 1;
      return true;
  }
  return false;
}

bool is_peer(const Device& device, const Device& other) {
  return &device != &other && peer_access_exists();
}

struct ErrorText {
  CUresult code;
  const char* name;
  const char* text;
};

constexpr ErrorText error_texts[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_MAP_FAILED, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    {CUDA_ERROR_UNMAP_FAILED, "CUDA_ERROR_UNMAP_FAILED", "unmapping of buffer object failed"},
    {CUDA_ERROR_ALREADY_MAPPED, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
    {CUDA_ERROR_NOT_MAPPED, "CUDA_ERROR_NOT_MAPPED", "resource not mapped"},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
     "peer access has not been enabled"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_TOO_MANY_PEERS, "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not initiated in this stream"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText* text_of(CUresult code) {
  for (const ErrorText& row : error_texts) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

/// The newest version of a driver function that this library exports; null if it has none.
void* entry_point(const std::string& name) {
  static void* const self = [] {
    Dl_info info{};
    dladdr(&simulated_gpu_marker, &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  if (!name.starts_with("cu")) return nullptr;
  for (const char* version : {"_v4", "_v3", "_v2", ""}) {
    if (void* found = dlsym(self, (name + version).c_str())) return found;
  }
  return nullptr;
}

}  // namespace
}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuInit(unsigned flags) {
  return guarded([&] {
    if (const CUresult injected = static_cast<CUresult>(simulated_gpu_injected_fault("cuInit"));
        injected != CUDA_SUCCESS) {
      return injected;
    }
    require(flags == 0, CUDA_ERROR_INVALID_VALUE);
    require(device_count() > 0, CUDA_ERROR_NO_DEVICE);
    mark_initialised();
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ErrorText* row = text_of(code);
  *name = row == nullptr ? nullptr : row->name;
  return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult code, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ErrorText* row = text_of(code);
  *text = row == nullptr ? nullptr : row->text;
  return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// Answers with CUDA 13.0's versions, whichever version was asked for; per-thread default streams are not
// built in.
CUresult cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  return guarded([&] {
    require(symbol != nullptr && function != nullptr, CUDA_ERROR_INVALID_VALUE);
    const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *function = per_thread ? nullptr : entry_point(symbol);
    if (status != nullptr) {
      *status = *function == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
    }
    if (*function != nullptr) return CUDA_SUCCESS;
    simulated_gpu_say_unknown("the driver function", symbol);
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return driver_call(__func__, [&] {
    require(device != nullptr, CUDA_ERROR_INVALID_VALUE);
    *device = device_at(ordinal).ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return driver_call(__func__, [&] {
    require(count != nullptr, CUDA_ERROR_INVALID_VALUE);
    *count = device_count();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int capacity, CUdevice device) {
  return driver_call(__func__, [&] { return give_text(name, capacity, device_at(device).name); });
}

CUresult cuDeviceGetPCIBusId(char* bus_id, int capacity, CUdevice device) {
  return driver_call(__func__, [&] { return give_text(bus_id, capacity, device_at(device).pci_bus_id); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* bus_id) {
  return driver_call(__func__, [&] {
    require(device != nullptr && bus_id != nullptr, CUDA_ERROR_INVALID_VALUE);
    for (int ordinal = 0; ordinal < device_count(); ++ordinal) {
      if (device_at(ordinal).pci_bus_id != bus_id) continue;
      *device = ordinal;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return driver_call(__func__, [&] {
    require(uuid != nullptr, CUDA_ERROR_INVALID_VALUE);
    *uuid = device_at(device).uuid;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return driver_call(__func__, [&] {
    require(bytes != nullptr, CUDA_ERROR_INVALID_VALUE);
    *bytes = device_at(device).memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return driver_call(__func__, [&] {
    require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
    if (attribute_of(device_at(device), attribute, *value)) return CUDA_SUCCESS;
    simulated_gpu_say_unknown("device attribute", std::to_string(attribute).c_str());
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return driver_call(__func__, [&] {
    require(can != nullptr, CUDA_ERROR_INVALID_VALUE);
    *can = is_peer(device_at(device), device_at(peer));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice device,
                                 CUdevice peer) {
  return driver_call(__func__, [&] {
    require(value != nullptr && device != peer, CUDA_ERROR_INVALID_VALUE);
    const bool peers = is_peer(device_at(device), device_at(peer));
    const bool has_atomics = peers && nvlink_exists();
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ? has_atomics
             : attribute == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK      ? 0
                                                                          : peers;
    return CUDA_SUCCESS;
  });
}
