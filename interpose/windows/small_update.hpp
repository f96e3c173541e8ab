// An accumulate of few elements by one order to the resident kernel: it reads the target, returns that, and
// replaces it. Knows no epoch.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "interpose/windows/memory/member_memory.hpp"
#include "transports/small/resident.hpp"

namespace penstock::interpose {

/// The caller's buffers. Null: there is none.
struct UpdateBuffers {
  const transports::BufferView* origin = nullptr;
  const transports::BufferView* compared = nullptr;  ///< of MPI_Compare_and_swap
  const transports::BufferView* result = nullptr;
};

/// Thread: one at a time.
class SmallUpdate {
 public:
  /// Returns nothing if the kernel cannot do it. `element`: the predefined datatype of all values;
  /// `operation`: not of a swap.
  [[nodiscard]] static std::optional<SmallUpdate> find(const MemberMemory& memory,
                                                       const transports::Layout& where,
                                                       const UpdateBuffers& buffers, MPI_Op operation,
                                                       MPI_Datatype element);
  /// Waits, with progress, for what the application has queued on the GPU.
  void wait_for_application() const;
  /// To be called while nobody else accumulates there. `is_done` false: no kernel was ready, and nothing was
  /// changed.
  [[nodiscard]] Status run(bool& is_done) const {
    return transports::update_by_resident_kernel(order_, context_, is_done);
  }

 private:
  transports::UpdateOrder order_;
  transports::Buffer waited_for_;
  transports::cuda::ContextRef context_;
  std::shared_ptr<const void> keeper_;  ///< of the target's mapping
};

}  // namespace penstock::interpose
