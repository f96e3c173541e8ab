#include "memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <map>
#include <shared_mutex>
#include <vector>

#include "call.hpp"
#include "capture.hpp"

namespace simulated_gpu {
namespace {

struct Allocations {
  std::shared_mutex mutex;
  std::map<Address, AllocationRef> by_base;
};

Allocations& allocations() {
  static auto& all = *new Allocations;
  return all;
}

std::uint64_t next_buffer_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Gives back what an allocation that was taken out of the table stood on.
void release(const Allocation& allocation) noexcept {
  switch (allocation.kind) {
    case MemoryKind::device:
    case MemoryKind::pool:
      free_on_device(allocation);
      break;
    case MemoryKind::managed:
    case MemoryKind::pinned:
      munmap(reinterpret_cast<void*>(allocation.base), allocation.bytes);
      break;
    case MemoryKind::virtual_memory:
    case MemoryKind::imported:
    case MemoryKind::registered:
      break;  // belongs to whoever reserved, opened or registered it
  }
}

/// Host-accessible memory, whole pages, zeroed.
AllocationRef allocate_on_host(MemoryKind kind, std::size_t bytes, unsigned flags) {
  require(bytes > 0, CUDA_ERROR_INVALID_VALUE);
  Context& context = current_context();
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  return add_allocation({.kind = kind,
                         .base = reinterpret_cast<Address>(memory),
                         .bytes = bytes,
                         .context = &context,
                         .device = &context.device(),
                         .host_flags = flags});
}

/// cuMemFree and cuMemFreeHost wait, as NVIDIA's do: work in flight may still use the memory.
void free_after_work(Address base, MemoryKind kind) {
  refuse_unsafe_call();
  const AllocationRef allocation = take_allocation(base, kind);
  for (const auto& context : all_contexts()) context->synchronise();
  release(*allocation);
}

}  // namespace

AllocationRef add_allocation(Allocation allocation, CUresult overlap) {
  if (allocation.range_bytes == 0) {
    allocation.range_base = allocation.base;
    allocation.range_bytes = allocation.bytes;
  }
  allocation.buffer_id = next_buffer_id();
  const std::scoped_lock lock(allocations().mutex);
  auto& by_base = allocations().by_base;
  const auto next = by_base.lower_bound(allocation.base);
  require(next == by_base.end() || next->first >= allocation.base + allocation.bytes, overlap);
  if (next != by_base.begin()) {
    const Allocation& before = *std::prev(next)->second;
    require(before.base + before.bytes <= allocation.base, overlap);
  }
  auto added = std::make_shared<const Allocation>(std::move(allocation));
  by_base.emplace_hint(next, added->base, added);
  return added;
}

AllocationRef find_allocation(Address address) {
  address = AddressSpace::instance().visible(address);
  const std::shared_lock lock(allocations().mutex);
  const auto& by_base = allocations().by_base;
  const auto next = by_base.upper_bound(address);
  if (next == by_base.begin()) return nullptr;
  const AllocationRef& candidate = std::prev(next)->second;
  return address - candidate->base < candidate->bytes ? candidate : nullptr;
}

AllocationRef take_allocation(Address base, MemoryKind kind, CUresult otherwise) {
  const std::scoped_lock lock(allocations().mutex);
  auto& by_base = allocations().by_base;
  const auto found = by_base.find(base);
  require(found != by_base.end() && found->second->kind == kind, otherwise);
  AllocationRef taken = found->second;
  by_base.erase(found);
  return taken;
}

std::byte* accessible(Address address, std::size_t bytes) {
  AddressSpace& space = AddressSpace::instance();
  address = space.visible(address);
  if (!space.contains(address)) return reinterpret_cast<std::byte*>(address);
  // virtual memory may be several mappings side by side
  for (Address at = address; bytes > 0 && at < address + bytes;) {
    const AllocationRef allocation = find_allocation(at);
    require(allocation != nullptr, CUDA_ERROR_INVALID_VALUE);
    at = allocation->base + allocation->bytes;
  }
  return AddressSpace::mapped(address);
}

void free_allocations_of(Context& context) {
  std::vector<AllocationRef> owned;
  {
    const std::scoped_lock lock(allocations().mutex);
    std::erase_if(allocations().by_base, [&](const auto& entry) {
      if (entry.second->context != &context) return false;
      owned.push_back(entry.second);
      return true;
    });
  }
  for (const AllocationRef& allocation : owned) release(*allocation);
}

}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return driver_call(__func__, [&] {
    require(free != nullptr && total != nullptr, CUDA_ERROR_INVALID_VALUE);
    const Device& device = current_context().device();
    *total = device.memory_bytes;
    *free = device.memory_bytes - device.used_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return driver_call(__func__, [&] {
    require(address != nullptr && bytes > 0, CUDA_ERROR_INVALID_VALUE);
    Context& context = current_context();
    refuse_unsafe_call();
    *address = allocate_on_device(MemoryKind::device, context.device(), &context, bytes)->base;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width_bytes,
                         std::size_t height, unsigned) {
  constexpr std::size_t pitch_alignment = 512;
  return driver_call(__func__, [&] {
    require(address != nullptr && pitch != nullptr && width_bytes > 0 && height > 0,
            CUDA_ERROR_INVALID_VALUE);
    Context& context = current_context();
    *pitch = (width_bytes + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    *address = allocate_on_device(MemoryKind::device, context.device(), &context, *pitch * height)->base;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  return driver_call(__func__, [&] {
    if (address == 0) return CUDA_SUCCESS;
    const AllocationRef allocation = find_allocation(address);
    require(allocation != nullptr && allocation->base == address, CUDA_ERROR_INVALID_VALUE);
    require(allocation->kind == MemoryKind::device || allocation->kind == MemoryKind::managed ||
                allocation->kind == MemoryKind::pool,
            CUDA_ERROR_INVALID_VALUE);
    free_after_work(address, allocation->kind);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  return driver_call(__func__, [&] {
    const AllocationRef allocation = find_allocation(address);
    if (allocation == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = allocation->range_base;
    if (bytes != nullptr) *bytes = allocation->range_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return driver_call(__func__, [&] {
    require(address != nullptr && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST),
            CUDA_ERROR_INVALID_VALUE);
    *address = allocate_on_host(MemoryKind::managed, bytes, 0)->base;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return driver_call(__func__, [&] {
    require(memory != nullptr, CUDA_ERROR_INVALID_VALUE);
    *memory = reinterpret_cast<void*>(allocate_on_host(MemoryKind::pinned, bytes, flags)->base);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocHost(void** memory, std::size_t bytes) {
  return driver_call(__func__, [&] {
    require(memory != nullptr, CUDA_ERROR_INVALID_VALUE);
    *memory = reinterpret_cast<void*>(allocate_on_host(MemoryKind::pinned, bytes, 0)->base);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFreeHost(void* memory) {
  return driver_call(__func__, [&] {
    free_after_work(reinterpret_cast<Address>(memory), MemoryKind::pinned);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return driver_call(__func__, [&] {
    refuse_unsafe_call();
    require(memory != nullptr && bytes > 0, CUDA_ERROR_INVALID_VALUE);
    require(!AddressSpace::instance().contains(reinterpret_cast<Address>(memory)), CUDA_ERROR_INVALID_VALUE);
    Context& context = current_context();
    add_allocation({.kind = MemoryKind::registered,
                    .base = reinterpret_cast<Address>(memory),
                    .bytes = bytes,
                    .context = &context,
                    .device = &context.device(),
                    .host_flags = flags},
                   CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostUnregister(void* memory) {
  return driver_call(__func__, [&] {
    take_allocation(reinterpret_cast<Address>(memory), MemoryKind::registered,
                    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    for (const auto& context : all_contexts()) context->synchronise();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned flags) {
  return driver_call(__func__, [&] {
    require(address != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
    const AllocationRef allocation = find_allocation(reinterpret_cast<Address>(memory));
    require(allocation != nullptr && is_host_accessible(allocation->kind), CUDA_ERROR_INVALID_VALUE);
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* memory) {
  return driver_call(__func__, [&] {
    require(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
    const AllocationRef allocation = find_allocation(reinterpret_cast<Address>(memory));
    require(allocation != nullptr && is_host_accessible(allocation->kind), CUDA_ERROR_INVALID_VALUE);
    *flags = allocation->host_flags;
    return CUDA_SUCCESS;
  });
}
