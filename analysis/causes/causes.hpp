// Explains why a rank waited in an MPI call: cuts the call's time into spans, each with one cause, from what
// the other ranks recorded. Time without a known cause is `unattributed`. Must not know GPU kernels: others
// compute which part of a span was exposed.
//
// A call that completes messages:  until the last partner had posted       late sender or receiver
//                                  until the partner was back in MPI       missing progress
//                                  transfers: waiting for the GPU          GPU not ready
//                                             packing, host staging        staging
//                                  the rest, while data was on its way     wire
// A collective call:               until the last rank (or root) arrived   wait at collective
//                                  then as above
// A call that waits for members of a window:                               wait at window
// A non-blocking collective is treated like a message in the call that completes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/causes/cause.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// The other end of a wait, and the class of messages that it is for. Unknown parts are -1 and 0.
struct Counterpart {
  std::int32_t rank = -1;
  std::uint32_t communicator = 0;   ///< local id
  std::uint32_t message_class = 0;  ///< in MessageIndex::classes()
};

/// Part of a call. The spans of a call cover it without gaps, in order.
struct CauseSpan {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  Cause cause;
  Counterpart counterpart;
  Gap gap;
  std::uint64_t within_error_ns = 0;  ///< this much may belong to the neighbouring spans, because of the
                                      ///< hosts' clocks
};

/// A moment of some rank before which a call could not end, in the clock of the rank that is explained.
struct AwaitedMoment {
  std::int32_t rank;
  std::uint64_t time_ns;
  bool of_gpu;       ///< true: the rank's GPU had to be ready; false: its host had to be in MPI
  bool is_progress;  ///< it had posted its side, and had to be in MPI once more
};

/// Explains the calls of one rank. Thread: one at a time. Cost: linear in the halves and transfers of the
/// call.
class CauseFinder {
 public:
  /// `position`: of the rank in the index, see MessageIndex::add(). Rank and index must outlive the finder.
  CauseFinder(const RankTrace& rank, std::size_t position, const MessageIndex& index);
  /// Returns the call's spans, valid until the next call of explain().
  [[nodiscard]] std::span<const CauseSpan> explain(std::uint32_t call);
  /// Returns the arrivals of the call explained last, if it is a collective one.
  [[nodiscard]] const std::optional<Arrivals>& arrivals() const noexcept { return arrivals_; }
  /// Returns what the messages that complete in a call waited for, or what the call waited for at a window;
  /// valid until the next call of waits_of().
  [[nodiscard]] std::span<const AwaitedMoment> waits_of(std::uint32_t call);
  /// Returns the non-blocking collectives that complete in a call: indices in RankTrace::operations.
  [[nodiscard]] std::span<const std::uint32_t> operations_of(std::uint32_t call) const {
    return operations_of_call_.of(call);
  }
  /// Returns the halves of messages that complete in a call: indices in RankTrace::halves.
  [[nodiscard]] std::span<const std::uint32_t> halves_of(std::uint32_t call) const {
    return halves_of_call_.of(call);
  }
  [[nodiscard]] bool completes_messages(std::uint32_t call) const { return !halves_of(call).empty(); }

 private:
  /// Maps calls to records: those of call i are items[first[i]] … items[first[i + 1] - 1].
  struct ByCall {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> items;
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t call) const {
      return std::span(items).subspan(first[call], first[call + 1] - first[call]);
    }
  };
  [[nodiscard]] ByCall group(const std::vector<std::uint32_t>& call_of_each) const;

  /// A message that completes in a call. Times are in our clock; 0: nothing to wait for.
  struct Completion {
    const trace::MessageHalf* half = nullptr;
    Counterpart counterpart;
    std::span<const TransferFacts> transfers;
    Gap gap = Gap::none;
    std::uint64_t post_ns = 0;     ///< the partner's side was posted
    std::uint64_t noticed_ns = 0;  ///< the partner was back in MPI
    std::uint64_t error_ns = 0;    ///< of both times, by the partner's host's clock
  };
  void find_completions(std::uint32_t call);
  void explain_completions(std::span<const std::uint32_t> operations,
                           std::span<const std::uint32_t> transfers);
  void explain_collective(const trace::MpiCall& call, const Arrivals& arrivals,
                          std::span<const std::uint32_t> transfers);
  void find_wait_at_window(const trace::MpiCall& call);
  [[nodiscard]] TransferFacts facts_of_transfer(std::uint32_t transfer) const;
  void paint_transfers(Counterpart counterpart);
  /// `error_ns`: how far `time_ns` may be off.
  void paint_until(std::uint64_t time_ns, Cause cause, Counterpart counterpart, std::uint64_t error_ns = 0,
                   Gap gap = Gap::none);
  void paint_rest(Gap gap, Counterpart counterpart);
  [[nodiscard]] bool knows_clock_of(std::uint32_t host) const noexcept {
    return index_.clocks().can_convert(host, host_);
  }
  /// Converts another host's time to our clock.
  [[nodiscard]] std::uint64_t ours(std::uint64_t time_ns, std::uint32_t host) const noexcept {
    return index_.clocks().convert(time_ns, host, host_);
  }
  [[nodiscard]] std::uint64_t error_of(std::uint32_t host) const noexcept {
    return index_.clocks().error_ns(host, host_);
  }

  const RankTrace& rank_;
  const MessageIndex& index_;
  std::size_t position_;
  std::uint32_t host_;
  ByCall halves_of_call_;
  ByCall operations_of_call_;
  ByCall own_transfers_of_call_;  ///< those that belong to no application message

  // State of the call being explained.
  std::uint64_t painted_until_ns_ = 0;
  std::uint64_t painted_error_ns_ = 0;  ///< how far painted_until_ns_ may be off
  std::uint64_t call_end_ns_ = 0;
  std::optional<Arrivals> arrivals_;
  std::vector<CauseSpan> spans_;
  std::vector<TransferFacts> moving_;
  std::vector<Completion> completions_;
  std::vector<AwaitedMoment> waits_;
};

}  // namespace penstock::analysis
