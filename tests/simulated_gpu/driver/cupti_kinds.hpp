// Memory kinds by CUPTI's numbers, for activity records.
#pragma once

#include "memory.hpp"

namespace simulated_gpu {

/// A CUpti_ActivityMemoryKind; null is pageable host memory.
[[nodiscard]] constexpr int cupti_memory_kind(const Allocation* allocation) noexcept {
  constexpr int pageable = 1, pinned = 2, device = 3, managed = 5;
  if (allocation == nullptr) return pageable;
  if (allocation->kind == MemoryKind::managed) return managed;
  return is_host_accessible(allocation->kind) ? pinned : device;
}

}  // namespace simulated_gpu
