// Says why a rank was waiting in an MPI call: cuts the call's time into spans, each with one cause, by what
// the other ranks recorded. What cannot be told is `unattributed`. Knows no GPU kernels: which part of a span
// was exposed is asked elsewhere.
//
// A call that completes messages, from its begin on:  until the last partner had posted    late sender /
// receiver
//                                                     until the partner was back in MPI    missing progress
//                                                     transfers: waiting for the GPU       GPU not ready
//                                                                packing, host staging     staging
//                                                     all else while data was on its way   wire
// A collective call:                                  until the last rank (or root) came   wait at collective
//                                                     then as above
// A non-blocking collective is like a message in the call that completes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/joining/messages.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

enum class Cause : std::uint8_t {
  late_sender,
  late_receiver,
  collective_wait,
  wire,
  staging,
  gpu_not_ready,
  missing_progress,
  unattributed,
};
inline constexpr std::size_t cause_count = 8;
using TimeByCause = std::array<std::uint64_t, cause_count>;  ///< ns, indexed by Cause

/// For people ("late sender") and for machines ("late_sender").
[[nodiscard]] std::string_view name_of(Cause cause) noexcept;
[[nodiscard]] std::string_view identifier_of(Cause cause) noexcept;

/// Who is at the other end of a wait, and which class of messages it is for. Unknown parts are -1 and 0.
struct Counterpart {
  std::int32_t rank = -1;
  std::uint32_t communicator = 0;   ///< local id
  std::uint32_t message_class = 0;  ///< in MessageIndex::classes()
};

/// Why a span is unattributed.
enum class Gap : std::uint8_t {
  none,              ///< it is attributed
  no_partner,        ///< the other side's half, or some rank's arrival, was not recorded
  no_common_clock,   ///< the other side is on another host
  nothing_recorded,  ///< no message and no collective is known of the call
};
inline constexpr std::size_t gap_count = 4;

/// For people and for machines.
[[nodiscard]] std::string_view name_of(Gap gap) noexcept;
[[nodiscard]] std::string_view identifier_of(Gap gap) noexcept;

/// Part of a call. The spans of a call follow each other without gap from its begin to its end.
struct CauseSpan {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  Cause cause;
  Counterpart counterpart;
  Gap gap;
  std::uint64_t within_error_ns = 0;  ///< so much may belong to the spans beside it, by the hosts' clocks
};

/// A moment of some rank before which a message could not be complete. In the clock of the rank that is
/// explained.
struct MessageWait {
  std::int32_t rank;
  std::uint64_t time_ns;
  bool of_gpu;  ///< its GPU had to be ready; else its host had to be in MPI
};

/// Explains the calls of one rank. Thread: one at a time. Cost: linear in the halves and transfers of the
/// call.
class CauseFinder {
 public:
  /// `position`: of the rank in the index, see MessageIndex::add(). Both must outlive the finder.
  CauseFinder(const RankTrace& rank, std::size_t position, const MessageIndex& index);
  /// Valid until the next call of it.
  [[nodiscard]] std::span<const CauseSpan> explain(std::uint32_t call);
  /// Of the call that was explained last, if it is a collective one.
  [[nodiscard]] const std::optional<Arrivals>& arrivals() const noexcept { return arrivals_; }
  /// What the messages that complete in a call waited for. Valid likewise.
  [[nodiscard]] std::span<const MessageWait> waits_of(std::uint32_t call);
  /// The non-blocking collectives that complete in a call: indices in RankTrace::operations.
  [[nodiscard]] std::span<const std::uint32_t> operations_of(std::uint32_t call) const {
    return operations_of_call_.of(call);
  }
  /// The halves of messages that complete in it: indices in RankTrace::halves.
  [[nodiscard]] std::span<const std::uint32_t> halves_of(std::uint32_t call) const {
    return halves_of_call_.of(call);
  }
  /// Whether messages complete in it.
  [[nodiscard]] bool completes_messages(std::uint32_t call) const { return !halves_of(call).empty(); }

 private:
  /// Which records belong to which call: those of call i are items[first[i]] … items[first[i + 1] - 1].
  struct ByCall {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> items;
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t call) const;
  };
  [[nodiscard]] ByCall group(const std::vector<std::uint32_t>& call_of_each) const;

  /// A message that completes in a call. Times are in our clock, 0 where there is none to wait for.
  struct Completion {
    const trace::MessageHalf* half;
    Counterpart counterpart;
    std::span<const TransferFacts> transfers;
    Gap gap = Gap::none;
    std::uint64_t post_ns = 0;     ///< the partner's side was posted
    std::uint64_t noticed_ns = 0;  ///< the partner was back in MPI
    std::uint64_t error_ns = 0;    ///< of both, by its host's clock
  };
  void find_completions(std::uint32_t call);
  void explain_completions(std::span<const std::uint32_t> operations,
                           std::span<const std::uint32_t> transfers);
  void explain_collective(const trace::MpiCall& call, const Arrivals& arrivals,
                          std::span<const std::uint32_t> transfers);
  [[nodiscard]] TransferFacts facts_of_transfer(std::uint32_t transfer) const;
  void paint_transfers(Counterpart counterpart);
  /// `error_ns`: how far `time_ns` may be off.
  void paint_until(std::uint64_t time_ns, Cause cause, Counterpart counterpart, std::uint64_t error_ns = 0,
                   Gap gap = Gap::none);
  void paint_rest(Gap gap, Counterpart counterpart);
  [[nodiscard]] bool knows_clock_of(std::uint32_t host) const noexcept {
    return index_.clocks().can_convert(host, host_);
  }
  /// A time of another host's clock in ours.
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
  ByCall own_transfers_of_call_;  ///< those that belong to no message of the application

  // of the call being explained
  std::uint64_t painted_until_ns_ = 0;
  std::uint64_t painted_error_ns_ = 0;  ///< how far that may be off
  std::uint64_t call_end_ns_ = 0;
  std::optional<Arrivals> arrivals_;
  std::vector<CauseSpan> spans_;
  std::vector<TransferFacts> moving_;
  std::vector<Completion> completions_;
  std::vector<MessageWait> waits_;
};

}  // namespace penstock::analysis
