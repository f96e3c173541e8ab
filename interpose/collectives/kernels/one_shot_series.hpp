// A series of collectives of one communicator, each carried out by a kernel on each of its ranks
// (transports/one_shot): the memory that they use, and how each ends. This header knows no MPI call that
// starts one, nor when they begin.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/calls/transfer_record.hpp"
#include "interpose/collectives/kernels/one_shot_work.hpp"
#include "interpose/collectives/schedules/schedule.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/vote_slots.hpp"
#include "transports/cuda/context.hpp"
#include "transports/one_shot/one_shot_collective.hpp"
#include "transports/one_shot/symmetric_memory.hpp"

namespace penstock::interpose {

struct CommunicatorInfo;

/// The collectives of a series: a communicator's blocking ones; or its non-blocking ones, or all starts of a
/// persistent one.
enum class SeriesUse : std::uint8_t { blocking, other };

/// The ranks of a communicator, all on this node, as a series needs to know them. A value.
struct OneShotMembers {
  explicit OneShotMembers(const CommunicatorInfo& info);
  std::vector<const DirectoryRow*> rows;  ///< of all ranks
  std::uint64_t communicator_id;
  std::shared_ptr<VoteSlot> vote_slot;  ///< this rank's notes on the communicator
  std::size_t rank;
};

/// Thread: one at a time.
class OneShotSeries {
 public:
  /// Makes a series. All ranks make the same blocking call with the same size. Null, on all of them: some
  /// rank cannot get the memory, or cannot reach the others'.
  [[nodiscard]] static std::unique_ptr<OneShotSeries> make(const OneShotMembers& members,
                                                           MPI_Comm communicator,
                                                           const transports::cuda::ContextRef& context,
                                                           std::size_t memory_bytes, SeriesUse use);
  ~OneShotSeries();
  OneShotSeries(const OneShotSeries&) = delete;
  OneShotSeries& operator=(const OneShotSeries&) = delete;

  [[nodiscard]] const transports::cuda::ContextRef& context() const noexcept {
    return memory_.front().context();
  }
  [[nodiscard]] std::uint32_t collectives() const noexcept { return collective_->collectives(); }
  /// Returns whether some rank could not do its part in one: the series must not be used any more.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

  /// Begins this rank's part in the next one, after the work that the application had queued at `since_ns`;
  /// 0: that is complete. `ordinal` is the number under which the ranks look for failures.
  [[nodiscard]] Status begin(const transports::OneShotWork& work, std::uint64_t ordinal,
                             std::uint64_t since_ns);
  /// Never blocks. Errors: a failure here, or of a rank that has noted that it cannot do its part.
  [[nodiscard]] Status step(bool& is_over);

 private:
  friend class OneShotSetup;
  OneShotSeries(const OneShotMembers& members, SeriesUse use) : members_(members), use_(use) {}
  [[nodiscard]] Status take_memory(const transports::cuda::ContextRef& context, std::size_t bytes);
  [[nodiscard]] Status give_up(const Status& why) noexcept;

  const OneShotMembers members_;
  const SeriesUse use_;
  std::size_t counted_bytes_ = 0;
  std::list<transports::SymmetricMemory> memory_{
      1};  ///< one, in a list so that it can be kept without an allocation
  std::optional<transports::OneShotCollective> collective_;
  std::uint64_t ordinal_ = 0;  ///< of the one in flight
  /// Whether other ranks may still write to this rank's memory. A collective that is complete here has
  /// received all parts, and the others' kernels write no more. After a failure, or if sizes differ, another
  /// rank may yet launch its kernel.
  bool may_be_written_ = false;
  bool has_failed_ = false;
};

/// Makes a series in steps, by a collective of the MPI library's. All ranks begin it in the same order as the
/// other collectives on that communicator.
class OneShotSetup {
 public:
  /// Allocates what the library needs, so that begin() allocates nothing.
  OneShotSetup();
  /// Keeps in memory what the library still uses.
  ~OneShotSetup();
  OneShotSetup(const OneShotSetup&) = delete;
  OneShotSetup& operator=(const OneShotSetup&) = delete;

  /// Begins, once. Without members or a context this rank cannot take part, so there will be no series.
  /// Errors show at the end.
  void begin(const OneShotMembers* members, MPI_Comm communicator,
             const transports::cuda::ContextRef& context, std::size_t memory_bytes, SeriesUse use) noexcept;
  /// Never blocks. Returns true when it is complete.
  [[nodiscard]] bool step() noexcept;
  /// After that: returns whether all ranks took part; the same on all of them.
  [[nodiscard]] bool has_all(std::size_t ranks) const noexcept;
  /// After that: returns the series, to be used only when all ranks have voted for it. Null: this rank has
  /// none.
  [[nodiscard]] std::unique_ptr<OneShotSeries> take() noexcept;

 private:
  struct Words;

  std::unique_ptr<Words> words_;
  std::unique_ptr<OneShotSeries> series_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
};

/// One collective of a series, stepped. The series must outlive it.
class OneShotRun final : public ScheduleRun {
 public:
  OneShotRun(OneShotSeries& series, const transports::OneShotWork& work, std::uint64_t ordinal,
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
      if (is_over && is_well() && begin_ns_ != 0) record_one_shot_collective(begin_ns_, bytes_);
    }
    return is_over || !is_well();
  }
  [[nodiscard]] bool is_owed() const override { return true; }

 private:
  OneShotSeries& series_;
  const std::size_t bytes_;       ///< of a vector, or of the largest block
  const std::uint64_t begin_ns_;  ///< 0: not recorded
};

/// Begins a collective that the ranks do not count, after the work that the application had queued at
/// `since_ns`.
[[nodiscard]] std::unique_ptr<ScheduleRun> begin_uncounted(OneShotSeries& series, const OfferedKernel& kernel,
                                                           std::uint64_t since_ns);

}  // namespace penstock::interpose
