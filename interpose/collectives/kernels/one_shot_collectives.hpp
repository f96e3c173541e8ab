// This class carries out the blocking collectives of one communicator by a kernel on each of its ranks, and
// decides which of them, and from when on. It knows no MPI call.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "interpose/collectives/kernels/one_shot_series.hpp"
#include "transports/cuda/context.hpp"

namespace penstock::interpose {

struct CommunicatorInfo;

/// Owned by the communicator. Thread: one at a time, as the communicator's blocking collectives are.
class OneShotCollectives {
 public:
  /// Returns those of a communicator whose ranks are on this node. Null: kernels do not suit it, or there is
  /// no memory.
  [[nodiscard]] static OneShotCollectives* of(CommunicatorInfo& info) noexcept;

  /// Returns whether kernels can take vectors, or blocks, of that size. Apart from what suits() adds, the
  /// result is the same on all ranks.
  [[nodiscard]] bool may_take(std::size_t bytes) const noexcept;
  /// Returns whether this rank would take part in one, in that context. If all ranks vote so, all call
  /// prepare(), else none.
  [[nodiscard]] bool suits(std::size_t bytes, const transports::cuda::ContextRef& context) const noexcept;
  /// The context of this rank's collectives; null before the first.
  [[nodiscard]] transports::cuda::ContextRef context() const noexcept {
    return series_ != nullptr ? series_->context() : nullptr;
  }
  /// Prepares the kernels; all ranks call this in the same blocking collective. Returns false on all of them
  /// if this collective has to use another way.
  [[nodiscard]] bool prepare(MPI_Comm communicator, const transports::cuda::ContextRef& context);
  /// Begins this rank's part, after prepare(). What the application has queued must be complete.
  [[nodiscard]] std::unique_ptr<ScheduleRun> begin(const transports::OneShotWork& work);

 private:
  explicit OneShotCollectives(CommunicatorInfo& info) noexcept : info_(info) {}

  CommunicatorInfo& info_;
  unsigned votes_ = 0;       ///< number of collectives for which all ranks voted for kernels
  bool is_refused_ = false;  ///< by some rank, for good
  std::unique_ptr<OneShotSeries> series_;
};

}  // namespace penstock::interpose
