// The allocations of this process, of every kind, by address: what pointer attributes, copies, kernels and
// IPC ask. Knows nothing of how each kind comes to be.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "address_space.hpp"
#include "context.hpp"
#include "physical_memory.hpp"

namespace simulated_gpu {

enum class MemoryKind { device, pool, virtual_memory, imported, managed, pinned, registered };

[[nodiscard]] constexpr bool is_host_accessible(MemoryKind kind) noexcept {
  return kind == MemoryKind::managed || kind == MemoryKind::pinned || kind == MemoryKind::registered;
}

/// One allocation, or one mapping of virtual memory management. `physical` is null for host-accessible kinds.
struct Allocation {
  MemoryKind kind{};
  Address base = 0;
  std::size_t bytes = 0;
  Context* context = nullptr;  ///< null for pool and virtual memory, as NVIDIA's
  Device* device = nullptr;
  std::shared_ptr<PhysicalMemory> physical;
  std::size_t physical_offset = 0;
  Address range_base = 0;  ///< of virtual memory: the reservation around it; else as base and bytes
  std::size_t range_bytes = 0;
  unsigned host_flags = 0;
  std::uint64_t buffer_id = 0;  ///< set by add_allocation
};
using AllocationRef = std::shared_ptr<const Allocation>;

/// Unique in the process. Fails with `overlap` if another allocation has some of the bytes.
AllocationRef add_allocation(Allocation allocation, CUresult overlap = CUDA_ERROR_INVALID_VALUE);
/// The allocation that holds the address (also as kernels see it); null if none.
[[nodiscard]] AllocationRef find_allocation(Address address);
/// Removes the one that starts there and is of that kind; CUDA_ERROR_INVALID_VALUE or `otherwise` if none
/// does.
AllocationRef take_allocation(Address base, MemoryKind kind, CUresult otherwise = CUDA_ERROR_INVALID_VALUE);

/// Bytes as copies and kernels reach them. Fails with CUDA_ERROR_INVALID_VALUE for device addresses that are
/// not (entirely) allocated; takes others for host memory.
[[nodiscard]] std::byte* accessible(Address address, std::size_t bytes);

/// For cuCtxDestroy.
void free_allocations_of(Context& context);

/// Memory of cuMemAlloc and of pools: small ones share blocks of 2 MiB, as NVIDIA packs them.
AllocationRef allocate_on_device(MemoryKind kind, Device& device, Context* context, std::size_t bytes);
void free_on_device(const Allocation& allocation) noexcept;

}  // namespace simulated_gpu
