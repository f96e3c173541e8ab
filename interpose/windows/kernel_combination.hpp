// Values that a kernel combines where they are: the target's, mapped, with the caller's. Knows no epoch.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>

#include "interpose/windows/memory/member_memory.hpp"
#include "transports/cuda/context.hpp"
#include "transports/reduction/device_reduction.hpp"

namespace penstock::interpose {

/// Thread: one at a time.
class KernelCombination {
 public:
  /// Returns nothing if no kernel can do it, or the MPI library is faster. `element`: the predefined datatype
  /// of all values.
  [[nodiscard]] static std::optional<KernelCombination> find(const MemberMemory& memory,
                                                             const transports::Layout& where,
                                                             const transports::BufferView& origin,
                                                             MPI_Op operation, MPI_Datatype element);
  /// target = target ∘ origin, waited for with progress. Does not wait for what the application has queued.
  [[nodiscard]] Status run() const;

 private:
  transports::cuda::ContextRef context_;
  std::shared_ptr<const void> keeper_;  ///< of the target's mapping
  transports::VectorReduction reduction_;
  std::array<const void*, 2> sources_{};
};

}  // namespace penstock::interpose
