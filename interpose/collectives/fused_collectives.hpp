// The blocking collectives of one communicator that a kernel on each of its ranks does: which may be, and
// from when on. Knows no MPI call that asks for one.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "interpose/collectives/fused_series.hpp"
#include "transports/cuda/context.hpp"

namespace penstock::interpose {

struct CommunicatorInfo;

/// Owned by the communicator. Thread: one at a time, as the communicator's blocking collectives are.
class FusedCollectives {
 public:
  /// Of a communicator whose ranks are on this node. Null: it is none for these, or there is no memory.
  [[nodiscard]] static FusedCollectives* of(CommunicatorInfo& info) noexcept;

  /// Whether there can be one of vectors, or blocks, of so many bytes. The same on all ranks, but for what
  /// suits() says besides.
  [[nodiscard]] bool may_take(std::size_t bytes) const noexcept;
  /// Whether this rank would take part in one, in that context. If all ranks have said so, all call
  /// prepare(), else none.
  [[nodiscard]] bool suits(std::size_t bytes, const transports::cuda::ContextRef& context) const noexcept;
  /// In which this rank's are carried out; null: none have been yet.
  [[nodiscard]] transports::cuda::ContextRef context() const noexcept {
    return series_ != nullptr ? series_->context() : nullptr;
  }
  /// All ranks are in the same blocking collective. False on all of them: this one goes another way.
  [[nodiscard]] bool prepare(MPI_Comm communicator, const transports::cuda::ContextRef& context);
  /// After prepare(): this rank's part in the collective that it has come to. What the application has queued
  /// must be done.
  [[nodiscard]] std::unique_ptr<Exchange> begin(const transports::FusedWork& work);

 private:
  explicit FusedCollectives(CommunicatorInfo& info) noexcept : info_(info) {}

  CommunicatorInfo& info_;
  unsigned wishes_ = 0;      ///< collectives that all ranks would have had so
  bool is_refused_ = false;  ///< by some rank, for good
  std::unique_ptr<FusedSeries> series_;
};

}  // namespace penstock::interpose
