// Collectives of one communicator that follow each other, and that a kernel on each of its ranks does
// (transports/fused): the memory that they go through, and what comes of each. Knows no MPI call that asks
// for one, nor when they begin.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/collectives/exchange.hpp"
#include "interpose/collectives/fused_work.hpp"
#include "interpose/node/arrival_places.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "transports/cuda/context.hpp"
#include "transports/fused/fused_collective.hpp"
#include "transports/fused/symmetric_memory.hpp"

namespace penstock::interpose {

struct CommunicatorInfo;

/// Whose collectives they are: a communicator's blocking ones, or all starts of a persistent one.
enum class SeriesUse : std::uint8_t { blocking, persistent };

/// Thread: one at a time.
class FusedSeries {
 public:
  /// All ranks, which are on this node, are in the same blocking call, and ask for as much memory. Null, on
  /// all of them: some rank cannot have it, or cannot reach the others'.
  [[nodiscard]] static std::unique_ptr<FusedSeries> make(const CommunicatorInfo& info, MPI_Comm communicator,
                                                         const transports::cuda::ContextRef& context,
                                                         std::size_t memory_bytes, SeriesUse use);
  ~FusedSeries();
  FusedSeries(const FusedSeries&) = delete;
  FusedSeries& operator=(const FusedSeries&) = delete;

  [[nodiscard]] const transports::cuda::ContextRef& context() const noexcept { return memory_.context(); }
  [[nodiscard]] std::uint32_t collectives() const noexcept { return collective_->collectives(); }
  /// Some rank could not do its part in one: there must be no more.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

  /// This rank's part in the next one, after the work that the application had queued at `since_ns`; 0: that
  /// is done. `ordinal` is what the ranks know it by where they look who has failed.
  [[nodiscard]] Status begin(const FusedWork& work, std::uint32_t ordinal, std::uint64_t since_ns);
  /// Never blocks. An error: here, or a rank has said that it cannot do its part.
  [[nodiscard]] Status step(bool& is_over);

 private:
  FusedSeries(const CommunicatorInfo& info, SeriesUse use);
  [[nodiscard]] Status take_memory(const transports::cuda::ContextRef& context, std::size_t bytes);
  [[nodiscard]] Status give_up(const Status& why) noexcept;

  const std::vector<const DirectoryRow*> rows_;  ///< of all ranks
  const std::uint64_t communicator_id_;
  const std::shared_ptr<ArrivalPlace> place_;
  const std::size_t rank_;
  const SeriesUse use_;
  std::size_t counted_bytes_ = 0;
  transports::SymmetricMemory memory_;
  std::optional<transports::FusedCollective> collective_;
  std::uint32_t ordinal_ = 0;  ///< of the one under way
  bool has_failed_ = false;
};

/// One of them, stepped. The series must outlive it.
class FusedExchange final : public Exchange {
 public:
  FusedExchange(FusedSeries& series, const FusedWork& work, std::uint32_t ordinal, std::uint64_t since_ns = 0)
      : series_(series) {
    note(series.begin(work, ordinal, since_ns));
  }
  [[nodiscard]] bool step(const CallScope&) override {
    bool is_over = !is_well();
    if (!is_over) note(series_.step(is_over));
    return is_over || !is_well();
  }
  [[nodiscard]] bool is_owed() const override { return true; }

 private:
  FusedSeries& series_;
};

}  // namespace penstock::interpose
