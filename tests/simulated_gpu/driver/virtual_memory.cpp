// Virtual memory management: address ranges, pieces of memory and mappings, each made on its own. Memory that
// was exported goes to other processes as a file descriptor.
#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "call.hpp"
#include "memory.hpp"

namespace simulated_gpu {
namespace {

/// A cuMemCreate handle: references to it count, its memory lives on while it is mapped.
struct Piece {
  std::shared_ptr<PhysicalMemory> memory;
  CUmemAllocationHandleType exportable_as = CU_MEM_HANDLE_TYPE_NONE;
  unsigned references = 0;
};

struct VirtualMemory {
  std::mutex mutex;
  std::map<Address, std::size_t> reserved;
  std::map<CUmemGenericAllocationHandle, Piece> pieces;
  CUmemGenericAllocationHandle last_handle = 0;

  Piece& piece(CUmemGenericAllocationHandle handle) {
    const auto found = pieces.find(handle);
    require(found != pieces.end(), CUDA_ERROR_INVALID_VALUE);
    return found->second;
  }
  CUmemGenericAllocationHandle add(Piece piece) {
    pieces.emplace(++last_handle, std::move(piece));
    return last_handle;
  }
};

VirtualMemory& virtual_memory() {
  static auto& only = *new VirtualMemory;
  return only;
}

bool is_whole(std::size_t bytes) {
  return bytes > 0 && bytes % AddressSpace::granule == 0;
}

Device& device_of(const CUmemLocation& location) {
  require(location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
  return device_at(location.id);
}

/// Calls `with` for each mapping in the range, which they must fill.
template <typename Visitor>
void for_each_mapping(Address address, std::size_t bytes, Visitor&& with) {
  for (Address at = address; at < address + bytes;) {
    const AllocationRef mapping = find_allocation(at);
    require(mapping != nullptr && mapping->kind == MemoryKind::virtual_memory && mapping->base == at &&
                at + mapping->bytes <= address + bytes,
            CUDA_ERROR_INVALID_VALUE);
    at += mapping->bytes;
    with(*mapping);
  }
}

}  // namespace
}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return driver_call(__func__, [&] {
    require(bytes != nullptr && properties != nullptr, CUDA_ERROR_INVALID_VALUE);
    *bytes = AddressSpace::granule;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  return driver_call(__func__, [&] {
    require(address != nullptr && is_whole(bytes) && flags == 0, CUDA_ERROR_INVALID_VALUE);
    require((alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE);
    const std::scoped_lock lock(virtual_memory().mutex);
    *address = AddressSpace::instance().reserve(bytes, std::max(alignment, AddressSpace::granule));
    virtual_memory().reserved[*address] = bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return driver_call(__func__, [&] {
    const std::scoped_lock lock(virtual_memory().mutex);
    const auto range = virtual_memory().reserved.find(address);
    require(range != virtual_memory().reserved.end() && range->second == bytes, CUDA_ERROR_INVALID_VALUE);
    virtual_memory().reserved.erase(range);
    AddressSpace::instance().release(address, bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return driver_call(__func__, [&] {
    require(handle != nullptr && properties != nullptr && is_whole(bytes) && flags == 0 &&
                properties->type == CU_MEM_ALLOCATION_TYPE_PINNED,
            CUDA_ERROR_INVALID_VALUE);
    auto memory = std::make_shared<PhysicalMemory>(device_of(properties->location), bytes);
    const std::scoped_lock lock(virtual_memory().mutex);
    *handle = virtual_memory().add({std::move(memory), properties->requestedHandleTypes, 1});
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return driver_call(__func__, [&] {
    const std::scoped_lock lock(virtual_memory().mutex);
    if (--virtual_memory().piece(handle).references == 0) virtual_memory().pieces.erase(handle);
    return CUDA_SUCCESS;
  });
}

// A piece whose handle was released but that is still mapped gets a new handle.
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return driver_call(__func__, [&] {
    const AllocationRef mapping = find_allocation(reinterpret_cast<Address>(address));
    require(handle != nullptr && mapping != nullptr && mapping->kind == MemoryKind::virtual_memory,
            CUDA_ERROR_INVALID_VALUE);
    const std::scoped_lock lock(virtual_memory().mutex);
    for (auto& [known, piece] : virtual_memory().pieces) {
      if (piece.memory != mapping->physical) continue;
      ++piece.references;
      *handle = known;
      return CUDA_SUCCESS;
    }
    *handle = virtual_memory().add({mapping->physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1});
    return CUDA_SUCCESS;
  });
}

// The memory is out of reach until cuMemSetAccess maps it.
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return driver_call(__func__, [&] {
    const std::scoped_lock lock(virtual_memory().mutex);
    const Piece& piece = virtual_memory().piece(handle);
    require(flags == 0 && is_whole(bytes) && offset <= piece.memory->bytes() &&
                bytes <= piece.memory->bytes() - offset,
            CUDA_ERROR_INVALID_VALUE);
    auto range = virtual_memory().reserved.upper_bound(address);
    require(range != virtual_memory().reserved.begin(), CUDA_ERROR_INVALID_VALUE);
    --range;
    require(address + bytes <= range->first + range->second, CUDA_ERROR_INVALID_VALUE);
    add_allocation({.kind = MemoryKind::virtual_memory,
                    .base = address,
                    .bytes = bytes,
                    .device = &piece.memory->device(),
                    .physical = piece.memory,
                    .physical_offset = offset,
                    .range_base = range->first,
                    .range_bytes = range->second});
    return CUDA_SUCCESS;
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  return driver_call(__func__, [&] {
    require(access != nullptr && count > 0 && is_whole(bytes), CUDA_ERROR_INVALID_VALUE);
    for (std::size_t i = 0; i < count; ++i) static_cast<void>(device_of(access[i].location));
    for_each_mapping(address, bytes, [](const Allocation& mapping) {
      AddressSpace::instance().map(mapping.base, mapping.physical->file(), mapping.physical_offset,
                                   mapping.bytes);
    });
    return CUDA_SUCCESS;
  });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return driver_call(__func__, [&] {
    for (const auto& context : all_contexts()) context->synchronise();
    for_each_mapping(address, bytes, [](const Allocation& mapping) {
      AddressSpace::instance().unmap(mapping.base, mapping.bytes);
      take_allocation(mapping.base, MemoryKind::virtual_memory);
    });
    return CUDA_SUCCESS;
  });
}

// The descriptor is the caller's, to send and to close.
CUresult cuMemExportToShareableHandle(void* exported, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return driver_call(__func__, [&] {
    require(exported != nullptr && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && flags == 0,
            CUDA_ERROR_INVALID_VALUE);
    const std::scoped_lock lock(virtual_memory().mutex);
    const Piece& piece = virtual_memory().piece(handle);
    require(piece.exportable_as == type, CUDA_ERROR_INVALID_VALUE);
    const int file = fcntl(piece.memory->file(), F_DUPFD_CLOEXEC, 0);
    require(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *static_cast<int*>(exported) = file;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* descriptor,
                                        CUmemAllocationHandleType type) {
  return driver_call(__func__, [&] {
    require(handle != nullptr && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
    Device& device = current_context().device();
    const int file = fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)), F_DUPFD_CLOEXEC, 0);
    require(file >= 0, CUDA_ERROR_INVALID_VALUE);
    const off_t bytes = lseek(file, 0, SEEK_END);
    auto memory =
        std::make_shared<PhysicalMemory>(device, file, bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    require(is_whole(memory->bytes()), CUDA_ERROR_INVALID_VALUE);
    const std::scoped_lock lock(virtual_memory().mutex);
    *handle = virtual_memory().add({std::move(memory), type, 1});
    return CUDA_SUCCESS;
  });
}
