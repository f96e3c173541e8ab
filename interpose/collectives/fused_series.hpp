// Collectives of one communicator that follow each other, and that a kernel on each of its ranks does
// (transports/fused): the memory that they go through, and what comes of each. Knows no MPI call that asks
// for one, nor when they begin.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/calls/transfer_record.hpp"
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

/// Whose collectives they are: a communicator's blocking ones; its non-blocking ones, or all starts of a
/// persistent one.
enum class SeriesUse : std::uint8_t { blocking, other };

/// The ranks of a communicator, all on this node, as those of a series need to be known. A value.
struct FusedMembers {
  explicit FusedMembers(const CommunicatorInfo& info);
  std::vector<const DirectoryRow*> rows;  ///< of all ranks
  std::uint64_t communicator_id;
  std::shared_ptr<ArrivalPlace> place;  ///< this rank's notes of it
  std::size_t rank;
};

/// Thread: one at a time.
class FusedSeries {
 public:
  /// All ranks are in the same blocking call, and ask for as much memory. Null, on all of them: some rank
  /// cannot have it, or cannot reach the others'.
  [[nodiscard]] static std::unique_ptr<FusedSeries> make(const FusedMembers& members, MPI_Comm communicator,
                                                         const transports::cuda::ContextRef& context,
                                                         std::size_t memory_bytes, SeriesUse use);
  ~FusedSeries();
  FusedSeries(const FusedSeries&) = delete;
  FusedSeries& operator=(const FusedSeries&) = delete;

  [[nodiscard]] const transports::cuda::ContextRef& context() const noexcept {
    return memory_.front().context();
  }
  [[nodiscard]] std::uint32_t collectives() const noexcept { return collective_->collectives(); }
  /// Some rank could not do its part in one: there must be no more.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

  /// This rank's part in the next one, after the work that the application had queued at `since_ns`; 0: that
  /// is done. `ordinal` is what the ranks know it by where they look who has failed.
  [[nodiscard]] Status begin(const transports::FusedWork& work, std::uint64_t ordinal,
                             std::uint64_t since_ns);
  /// Never blocks. An error: here, or a rank has said that it cannot do its part.
  [[nodiscard]] Status step(bool& is_over);

 private:
  friend class FusedSetup;
  FusedSeries(const FusedMembers& members, SeriesUse use) : members_(members), use_(use) {}
  [[nodiscard]] Status take_memory(const transports::cuda::ContextRef& context, std::size_t bytes);
  [[nodiscard]] Status give_up(const Status& why) noexcept;

  const FusedMembers members_;
  const SeriesUse use_;
  std::size_t counted_bytes_ = 0;
  std::list<transports::SymmetricMemory> memory_{1};  ///< one, in a list so that it can be kept without fail
  std::optional<transports::FusedCollective> collective_;
  std::uint64_t ordinal_ = 0;  ///< of the one under way
  /// This rank's memory. One that is complete here has come whole from all others, whose kernels write no
  /// more; of one that has failed, or whose sizes do not fit together, a kernel may yet be launched on
  /// another rank.
  bool may_be_written_ = false;
  bool has_failed_ = false;
};

/// The making of a series, stepped: a collective of the MPI library's, which all ranks begin in the same
/// order as their others on that communicator.
class FusedSetup {
 public:
  /// Takes memory for what the library needs, so that begin() needs none.
  FusedSetup();
  /// What the library has not ended yet stays in memory.
  ~FusedSetup();
  FusedSetup(const FusedSetup&) = delete;
  FusedSetup& operator=(const FusedSetup&) = delete;

  /// Without members or a context: this rank cannot have part in it, so that there will be no series. Errors
  /// show at the end. Once.
  void begin(const FusedMembers* members, MPI_Comm communicator, const transports::cuda::ContextRef& context,
             std::size_t memory_bytes, SeriesUse use) noexcept;
  /// Never blocks. True when it is over.
  [[nodiscard]] bool step() noexcept;
  /// After that: no rank has stayed away, which is the same on all of them.
  [[nodiscard]] bool has_all(std::size_t ranks) const noexcept;
  /// After that: the series, to be used only when all ranks have said that they have it. Null: this one has
  /// not.
  [[nodiscard]] std::unique_ptr<FusedSeries> take() noexcept;

 private:
  struct Words;

  std::unique_ptr<Words> words_;
  std::unique_ptr<FusedSeries> series_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
};

/// One of them, stepped. The series must outlive it.
class FusedExchange final : public Exchange {
 public:
  FusedExchange(FusedSeries& series, const transports::FusedWork& work, std::uint64_t ordinal,
                std::uint64_t since_ns = 0)
      : series_(series),
        bytes_(transports::largest_of(work.parts)),
        begin_ns_(record::is_on() ? record::now_ns() : 0) {
    note(series.begin(work, ordinal, since_ns));
  }
  [[nodiscard]] bool step(const CallScope&) override {
    bool is_over = !is_well();
    if (!is_over) {
      note(series_.step(is_over));
      if (is_over && is_well() && begin_ns_ != 0) record_fused_collective(begin_ns_, bytes_);
    }
    return is_over || !is_well();
  }
  [[nodiscard]] bool is_owed() const override { return true; }

 private:
  FusedSeries& series_;
  const std::size_t bytes_;       ///< of a vector, or of the largest block
  const std::uint64_t begin_ns_;  ///< 0: not recorded
};

/// One that the ranks do not count, after the work that the application had queued at `since_ns`.
[[nodiscard]] std::unique_ptr<Exchange> begin_uncounted(FusedSeries& series, const OfferedKernel& kernel,
                                                        std::uint64_t since_ns);

}  // namespace penstock::interpose
