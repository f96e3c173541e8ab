// The collectives of one communicator that a kernel on each of its ranks does (transports/fused): when they
// begin, and the memory that they go through. Knows no MPI call that asks for one.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "interpose/collectives/exchange.hpp"
#include "interpose/collectives/fused_work.hpp"
#include "interpose/node/node_directory.hpp"
#include "transports/cuda/context.hpp"
#include "transports/fused/fused_collective.hpp"
#include "transports/fused/symmetric_memory.hpp"

namespace penstock::interpose {

struct CommunicatorInfo;

/// Owned by the communicator. Thread: one at a time, as the communicator's blocking collectives are.
class FusedCollectives {
 public:
  /// Of a communicator whose ranks are on this node. Null: it is none for these, or there is no memory.
  [[nodiscard]] static FusedCollectives* of(CommunicatorInfo& info) noexcept;

  ~FusedCollectives();
  FusedCollectives(const FusedCollectives&) = delete;
  FusedCollectives& operator=(const FusedCollectives&) = delete;

  /// Whether there can be one of vectors, or blocks, of so many bytes. The same on all ranks, but for what
  /// suits() says besides.
  [[nodiscard]] bool may_take(std::size_t bytes) const noexcept;
  /// Whether this rank would take part in one, in that context. If all ranks have said so, all call
  /// prepare(), else none.
  [[nodiscard]] bool suits(std::size_t bytes, const transports::cuda::ContextRef& context) const noexcept;
  /// All ranks are in the same blocking collective. False on all of them: this one goes another way.
  [[nodiscard]] bool prepare(MPI_Comm communicator, const transports::cuda::ContextRef& context);
  /// After prepare(): this rank's part in the collective that it has come to.
  [[nodiscard]] Status begin(const FusedWork& work);
  /// Never blocks. An error: here, or a rank has said that it cannot do its part.
  [[nodiscard]] Status step(bool& is_over);

 private:
  explicit FusedCollectives(CommunicatorInfo& info) noexcept : info_(info) {}
  [[nodiscard]] bool set_up(MPI_Comm communicator, const transports::cuda::ContextRef& context);
  void drop_memory() noexcept;
  [[nodiscard]] Status give_up(const Status& why) noexcept;

  CommunicatorInfo& info_;
  unsigned wishes_ = 0;      ///< collectives that all ranks would have had so
  bool is_refused_ = false;  ///< by some rank, for good
  bool is_counted_ = false;  ///< among the communicators that have memory, or ask for it
  transports::SymmetricMemory memory_;
  std::optional<transports::FusedCollective> collective_;
};

/// One of them, stepped.
class FusedExchange final : public Exchange {
 public:
  FusedExchange(FusedCollectives& collectives, const FusedWork& work) : collectives_(collectives) {
    note(collectives.begin(work));
  }
  [[nodiscard]] bool step(const CallScope&) override {
    bool is_over = !is_well();
    if (!is_over) note(collectives_.step(is_over));
    return is_over || !is_well();
  }
  [[nodiscard]] bool is_owed() const override { return true; }

 private:
  FusedCollectives& collectives_;
};

}  // namespace penstock::interpose
