// MPI_Alltoall(v, w) in place, where what a rank receives from another overwrites what it sends there:
// pairs of ranks swap their blocks. Received blocks wait in memory of Penstock's own until the sent ones have
// been read. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/collectives/schedules/schedule.hpp"
#include "interpose/collectives/schedules/scratch_memory.hpp"
#include "interpose/datatypes/held_datatype.hpp"
#include "interpose/node/policy.hpp"

namespace penstock::interpose {

/// The swaps of this rank, in pieces if blocks are large. Their order is the same for both ranks of each
/// swap, so that the earliest swap in it never waits behind another one in a busy rank.
class SwapSchedule final : public Schedule {
 public:
  /// `blocks` has one for each rank. Returns none if the buffer is not the GPU's, if there is no memory, or
  /// if a block that must be cut has gaps.
  [[nodiscard]] static std::optional<SwapSchedule> make(void* buffer, std::vector<BlockPlace> blocks,
                                                        int rank);

  void outlive_the_call() override;
  [[nodiscard]] bool may_begin() const override;
  [[nodiscard]] std::unique_ptr<ScheduleRun> begin(const CallScope& scope, TagRange tags) const override;

 private:
  friend class SwapRun;
  struct Swap {
    int peer;
    BlockPlace block;
    std::size_t bytes;
  };

  [[nodiscard]] bool add_swaps(const std::vector<BlockPlace>& blocks, int rank);
  [[nodiscard]] std::size_t depth() const noexcept;

  void* buffer_ = nullptr;
  int rank_ = 0;
  std::vector<Swap> swaps_;
  std::size_t slot_bytes_ = 0;
  std::optional<ScratchMemory> scratch_;  ///< none: there is nothing to swap
  std::vector<std::unique_ptr<HeldDatatype>> datatypes_;
};

/// All swaps of one call. Each is sent and received, then put in place.
class SwapRun final : public ScheduleRun {
 public:
  SwapRun(const SwapSchedule& schedule, const CallScope& scope, TagRange tags);
  [[nodiscard]] bool step(const CallScope& scope) override;
  [[nodiscard]] bool is_owed() const override;

 private:
  [[nodiscard]] std::byte* slot(std::size_t index) const noexcept;
  [[nodiscard]] std::unique_ptr<MessageRun>& messages(std::size_t index) noexcept {
    return under_way_[index % schedule_.depth()];
  }
  [[nodiscard]] bool may_send();
  void post(const CallScope& scope);
  void put_in_place(const CallScope& scope);
  [[nodiscard]] bool advance(const CallScope& scope);

  const SwapSchedule& schedule_;
  TagRange tags_;
  std::array<std::unique_ptr<MessageRun>, policy::most_swaps_at_once> under_way_;
  // number of swaps that have taken each step
  std::size_t posted_ = 0;
  std::size_t put_ = 0;
  std::size_t over_ = 0;
  SendWait send_wait_;
};

}  // namespace penstock::interpose
