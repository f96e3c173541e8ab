// What cuPointerGetAttribute says of an address. The singular query refuses unknown host memory, the plural
// one answers with nulls, as NVIDIA's.
#include <cstring>

#include "call.hpp"
#include "memory.hpp"

namespace simulated_gpu {
namespace {

/// Writes the attribute's value at `data`; every attribute has its own type.
template <typename Value>
CUresult answer(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult answer_for(void* data, CUpointer_attribute attribute, const Allocation& allocation,
                    Address address) {
  const bool host_accessible = is_host_accessible(allocation.kind);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer(data, allocation.context == nullptr ? CUcontext{} : allocation.context->handle());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(data, static_cast<unsigned>(host_accessible && allocation.kind != MemoryKind::managed
                                                    ? CU_MEMORYTYPE_HOST
                                                    : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return answer(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host_accessible) return CUDA_ERROR_INVALID_VALUE;
      return answer(data, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return answer(data, 0u);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return answer(data, static_cast<unsigned long long>(allocation.buffer_id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return answer(data, allocation.kind == MemoryKind::managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer(data, allocation.device->ordinal);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return answer(data, allocation.kind == MemoryKind::device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return answer(data, allocation.range_base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return answer(data, allocation.range_bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return answer(data, true);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return answer(data, static_cast<unsigned long long>(allocation.kind == MemoryKind::virtual_memory
                                                              ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                                              : CU_MEM_HANDLE_TYPE_NONE));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer(data, allocation.kind == MemoryKind::pool
                              ? reinterpret_cast<CUmemoryPool>(allocation.device)
                              : CUmemoryPool{});
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return answer(data, allocation.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return answer(data, allocation.base);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

/// What the plural query says of an address that is not CUDA's.
void answer_nothing(void* data, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      answer(data, CU_DEVICE_INVALID);
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      answer(data, false);
      break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      answer(data, 0u);
      break;
    default:
      answer(data, std::uint64_t{0});
      break;
  }
}

}  // namespace
}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return driver_call(__func__, [&] {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const AllocationRef allocation = find_allocation(address);
    if (allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return answer_for(data, attribute, *allocation, AddressSpace::instance().visible(address));
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  return driver_call(__func__, [&] {
    require(attributes != nullptr && data != nullptr, CUDA_ERROR_INVALID_VALUE);
    const AllocationRef allocation = find_allocation(address);
    for (unsigned i = 0; i < count; ++i) {
      require(data[i] != nullptr, CUDA_ERROR_INVALID_VALUE);
      if (allocation == nullptr || answer_for(data[i], attributes[i], *allocation,
                                              AddressSpace::instance().visible(address)) != CUDA_SUCCESS) {
        answer_nothing(data[i], attributes[i]);
      }
    }
    return CUDA_SUCCESS;
  });
}

// The one attribute that can be set makes synchronous copies wait, which ours do where NVIDIA's would.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return driver_call(__func__, [&] {
    require(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                find_allocation(address) != nullptr,
            CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
  });
}
