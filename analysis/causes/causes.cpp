#include "analysis/causes/causes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/joining/call_cursor.hpp"
#include "analysis/recording/window_calls.hpp"

namespace penstock::analysis {
namespace {

/// The latest of several moments that a call had to wait for, with its cause and counterpart.
class LastMoment {
 public:
  std::uint64_t time_ns = 0;
  Cause cause = Cause::unattributed;
  Counterpart counterpart;

  /// `candidate_ns` 0: there was no such moment.
  void consider(std::uint64_t candidate_ns, std::uint64_t candidate_error_ns, Cause why, Counterpart who) {
    if (candidate_ns == 0) {
      return;
    }
    latest_possible_ns_ = std::max(latest_possible_ns_, candidate_ns + candidate_error_ns);
    if (candidate_ns > time_ns) {
      time_ns = candidate_ns;
      own_error_ns_ = candidate_error_ns;
      cause = why;
      counterpart = who;
    }
  }
  /// Returns the error of the moment: by its own clock, or because another candidate may have been later.
  [[nodiscard]] std::uint64_t error_ns() const noexcept {
    return std::max(own_error_ns_, latest_possible_ns_ - time_ns);
  }

 private:
  std::uint64_t own_error_ns_ = 0;
  std::uint64_t latest_possible_ns_ = 0;
};

}  // namespace

/// Sorts records by the call that contains each (counting sort); records outside all calls are left out.
CauseFinder::ByCall CauseFinder::group(const std::vector<std::uint32_t>& call_of_each) const {
  ByCall grouped;
  grouped.first.resize(rank_.calls.size() + 2);
  for (const std::uint32_t call : call_of_each) {
    if (call != RankTrace::no_call) {
      ++grouped.first[call + 2];
    }
  }
  for (std::size_t i = 2; i < grouped.first.size(); ++i) {
    grouped.first[i] += grouped.first[i - 1];
  }
  grouped.items.resize(grouped.first.back());
  for (std::uint32_t i = 0; i < call_of_each.size(); ++i) {
    if (call_of_each[i] != RankTrace::no_call) {
      grouped.items[grouped.first[call_of_each[i] + 1]++] = i;
    }
  }
  return grouped;
}

CauseFinder::CauseFinder(const RankTrace& rank, std::size_t position, const MessageIndex& index)
    : rank_(rank), index_(index), position_(position), host_(index.host_of(rank)) {
  std::vector<std::uint32_t> calls;
  calls.reserve(rank.halves.size());
  CallCursor cursor(rank);
  for (const Half& half : rank.halves) {
    calls.push_back(cursor.call_at(half.lane, half.record.complete_ns));
  }
  halves_of_call_ = group(calls);
  calls.clear();
  for (const Operation& operation : rank.operations) {
    calls.push_back(cursor.call_at(operation.lane, operation.record.complete_ns));
  }
  operations_of_call_ = group(calls);
  calls.clear();
  for (const Transfer& transfer : rank.transfers) {
    const std::span<const TransferFacts> known = index.transfers_of(transfer.record.key);
    const bool is_of_message = !known.empty() && known.front().is_of_message;  // found by its key
    calls.push_back(is_of_message ? RankTrace::no_call
                                  : cursor.call_at(transfer.lane, transfer.record.end_ns));
  }
  own_transfers_of_call_ = group(calls);
}

std::span<const CauseSpan> CauseFinder::explain(std::uint32_t call) {
  const trace::MpiCall& record = rank_.calls[call].record;
  spans_.clear();
  moving_.clear();
  painted_until_ns_ = record.begin_ns;
  painted_error_ns_ = 0;
  call_end_ns_ = record.end_ns;

  find_completions(call);
  const std::span<const std::uint32_t> transfers = own_transfers_of_call_.of(call);
  arrivals_ = index_.arrivals_at(rank_, record);
  if (arrivals_ && record.waits != 0) {
    explain_collective(record, *arrivals_, transfers);
  } else if (const auto operations = operations_of(call); !completions_.empty() || !operations.empty()) {
    explain_completions(operations, transfers);
  } else {
    for (const std::uint32_t each : transfers) {
      moving_.push_back(facts_of_transfer(each));
    }
    const Counterpart counterpart{std::max(record.peer, -1), record.communicator};
    if (record.communicator != 0 && waits_at_window(rank_.strings.at(record.function))) {
      paint_until(record.end_ns, Cause::window_wait, counterpart);
    }
    paint_transfers(counterpart);
    // a call that cannot wait but carries bytes was handing them over, unless it wrote or read a file
    const bool hands_over = record.waits == 0 && !is_file_call(rank_.strings.at(record.function));
    paint_rest(hands_over ? Gap::none : Gap::nothing_recorded, counterpart);
  }
  return spans_;
}

/// Collects the messages that the call waited for. A blocking call waits for its own messages only, though
/// older ones may complete meanwhile.
void CauseFinder::find_completions(std::uint32_t call) {
  completions_.clear();
  const std::span<const std::uint32_t> halves = halves_of_call_.of(call);
  const bool is_blocking = std::any_of(halves.begin(), halves.end(), [this](std::uint32_t half) {
    return rank_.halves[half].record.blocking != 0;
  });
  for (const std::uint32_t half : halves) {
    const trace::MessageHalf& record = rank_.halves[half].record;
    if (is_blocking && record.blocking == 0) {
      continue;
    }
    const JoinedHalf joined = index_.joined(rank_, position_, half);
    const HalfFacts* const partner = joined.partner;
    Completion& completion = completions_.emplace_back();
    completion.half = &record;
    completion.counterpart = {
        std::max(record.peer, -1), record.communicator,
        joined.transfers.empty() ? joined.message_class : joined.transfers.back().message_class};
    completion.transfers = joined.transfers;
    if (partner == nullptr || !knows_clock_of(joined.partner_host)) {
      completion.gap = partner == nullptr ? Gap::no_partner : Gap::no_common_clock;
      continue;
    }
    const std::uint64_t post_ns = ours(partner->post_ns, joined.partner_host);
    completion.error_ns = error_of(joined.partner_host);
    completion.post_ns = post_ns <= record.complete_ns ? post_ns : 0;
    // Penstock's receiver pulls without the sender; with the MPI library's transport the sender may have to
    // re-enter MPI, too.
    const bool needs_partner = record.direction == trace::Direction::send || completion.transfers.empty();
    const std::uint64_t noticed_ns = ours(partner->noticed_ns, joined.partner_host);
    completion.noticed_ns = needs_partner && noticed_ns <= record.complete_ns ? noticed_ns : 0;
  }
}

void CauseFinder::explain_completions(std::span<const std::uint32_t> operations,
                                      std::span<const std::uint32_t> transfers) {
  LastMoment posted;
  LastMoment noticed;
  Counterpart last;
  std::uint64_t last_complete_ns = 0;
  Gap gap = Gap::none;
  for (const Completion& completion : completions_) {
    const trace::MessageHalf& record = *completion.half;
    if (record.complete_ns >= last_complete_ns) {
      last_complete_ns = record.complete_ns;
      last = completion.counterpart;
    }
    for (TransferFacts each : completion.transfers) {
      if (knows_clock_of(each.host)) {
        each.begin_ns = ours(each.begin_ns, each.host);
        each.end_ns = ours(each.end_ns, each.host);
        moving_.push_back(each);
      }
    }
    gap = completion.gap == Gap::none ? gap : completion.gap;
    const bool is_send = record.direction == trace::Direction::send;
    posted.consider(completion.post_ns, completion.error_ns,
                    is_send ? Cause::late_receiver : Cause::late_sender, completion.counterpart);
    noticed.consider(completion.noticed_ns, completion.error_ns, Cause::missing_progress,
                     completion.counterpart);
  }
  for (const std::uint32_t each : operations) {
    const trace::CollectiveOperation& record = rank_.operations[each].record;
    const Counterpart all{-1, record.communicator};
    if (record.complete_ns >= last_complete_ns) {
      last_complete_ns = record.complete_ns;
      last = all;
    }
    const std::optional<Arrivals> arrivals = index_.arrivals_at(rank_, record);
    if (!arrivals || !arrivals->one_clock || arrivals->seen < arrivals->expected) {
      gap = arrivals && !arrivals->one_clock ? Gap::no_common_clock : Gap::no_partner;
      continue;
    }
    const bool waits_for_root = arrivals->root_ns != 0 && record.root != rank_.header.world_rank &&
                                flows_from_root(rank_.strings.at(record.function));
    const std::uint64_t came_ns = waits_for_root ? arrivals->root_ns : arrivals->last_ns;
    if (came_ns <= record.complete_ns) {  // otherwise it completed before the last rank arrived
      posted.consider(
          came_ns,
          waits_for_root ? error_of(arrivals->root_host) : error_of_last_ns(*arrivals, index_.clocks()),
          Cause::collective_wait, {waits_for_root ? record.root : arrivals->last_rank, record.communicator});
    }
  }
  for (const std::uint32_t each : transfers) {
    moving_.push_back(facts_of_transfer(each));
  }
  paint_until(posted.time_ns, posted.cause, posted.counterpart, posted.error_ns());
  paint_until(noticed.time_ns, noticed.cause, noticed.counterpart, noticed.error_ns());
  paint_transfers(last);
  paint_rest(gap, last);
}

std::span<const AwaitedMoment> CauseFinder::waits_of(std::uint32_t call) {
  find_completions(call);
  waits_.clear();
  for (const Completion& completion : completions_) {
    const std::int32_t partner = completion.half->peer;
    if (completion.post_ns != 0) {
      waits_.push_back({partner, completion.post_ns, false, false});
    }
    if (completion.noticed_ns != 0) {
      waits_.push_back({partner, completion.noticed_ns, false, completion.noticed_ns > completion.post_ns});
    }
    const bool is_send = completion.half->direction == trace::Direction::send;
    for (const TransferFacts& each : completion.transfers) {
      if (each.wait_ns != 0 && knows_clock_of(each.host)) {
        waits_.push_back({is_send ? rank_.header.world_rank : partner,
                          ours(each.begin_ns + each.wait_ns, each.host), true, false});
      }
    }
  }
  for (const std::uint32_t each : own_transfers_of_call_.of(call)) {
    const trace::Transfer& record = rank_.transfers[each].record;
    if (record.wait_ns != 0) {
      waits_.push_back({rank_.header.world_rank, record.begin_ns + record.wait_ns, true, false});
    }
  }
  find_wait_at_window(rank_.calls[call].record);
  return waits_;
}

/// The peer let us go on within a call of its own, near that call's end. Where we went on before that end,
/// only the call's begin is known to have been before; where no such call was recorded, the peer did it just
/// before we went on.
void CauseFinder::find_wait_at_window(const trace::MpiCall& call) {
  if (call.peer < 0 || call.communicator == 0 || call.peer == rank_.header.world_rank ||
      !waits_at_window(rank_.strings.at(call.function))) {
    return;
  }
  std::uint64_t time_ns = call.end_ns;
  if (const std::optional<WindowRelease> release = index_.release_of(rank_, call)) {
    time_ns = release->end_ns <= call.end_ns ? release->end_ns : release->begin_ns;
  }
  waits_.push_back({call.peer, time_ns, false, false});
}

void CauseFinder::explain_collective(const trace::MpiCall& call, const Arrivals& arrivals,
                                     std::span<const std::uint32_t> transfers) {
  Counterpart nobody{-1, call.communicator};
  for (const std::uint32_t each : transfers) {
    moving_.push_back(facts_of_transfer(each));
    nobody.message_class = moving_.back().message_class;
  }
  if (!arrivals.one_clock) {  // arrivals of other clocks cannot be compared
    paint_transfers(nobody);
    return paint_rest(Gap::no_common_clock, nobody);
  }
  const bool is_root = call.peer == rank_.header.world_rank;
  if (!is_root && arrivals.root_ns != 0 && flows_from_root(rank_.strings.at(call.function))) {
    paint_until(arrivals.root_ns, Cause::collective_wait,
                {call.peer, call.communicator, nobody.message_class}, error_of(arrivals.root_host));
    paint_transfers(nobody);
    return paint_rest(Gap::none, nobody);
  }
  if (arrivals.last_ns <= call.end_ns) {  // otherwise it left before the last rank arrived, and did not wait
                                          // for it
    paint_until(arrivals.last_ns, Cause::collective_wait,
                {arrivals.last_rank, call.communicator, nobody.message_class},
                error_of_last_ns(arrivals, index_.clocks()));
  }
  paint_transfers(nobody);
  const bool is_complete = arrivals.seen >= arrivals.expected;
  paint_rest(is_complete ? Gap::none : Gap::no_partner, nobody);
}

/// Paints the transfers. Within each, waiting comes first, then packing: only their lengths are recorded.
void CauseFinder::paint_transfers(Counterpart counterpart) {
  std::sort(moving_.begin(), moving_.end(), [](const TransferFacts& left, const TransferFacts& right) {
    return left.begin_ns < right.begin_ns;
  });
  for (const TransferFacts& each : moving_) {
    counterpart.message_class = each.message_class;
    const bool is_staged = each.transport == trace::TransportKind::staged;
    const bool waits_to_be_staged = path_of(each.transport) == TransportPath::buffered;
    const std::uint64_t error_ns = error_of(each.host);
    paint_until(each.begin_ns, Cause::wire, counterpart, error_ns);
    paint_until(std::min(each.begin_ns + each.wait_ns, each.end_ns),
                waits_to_be_staged ? Cause::staging : Cause::gpu_not_ready, counterpart, error_ns);
    paint_until(std::min(each.begin_ns + each.wait_ns + each.pack_ns, each.end_ns), Cause::staging,
                counterpart, error_ns);
    paint_until(each.end_ns, is_staged ? Cause::staging : Cause::wire, counterpart, error_ns);
  }
}

/// Returns what explains a transfer's spans; `host` as in the index.
TransferFacts CauseFinder::facts_of_transfer(std::uint32_t transfer) const {
  const trace::Transfer& record = rank_.transfers[transfer].record;
  return {.key = record.key,
          .begin_ns = record.begin_ns,
          .end_ns = record.end_ns,
          .host = host_,
          .pack_ns = record.pack_ns,
          .wait_ns = record.wait_ns,
          .message_class = index_.class_of(rank_, position_, transfer),
          .transport = record.transport};
}

void CauseFinder::paint_until(std::uint64_t time_ns, Cause cause, Counterpart counterpart,
                              std::uint64_t error_ns, Gap gap) {
  const auto left_of = [](std::uint64_t error, std::uint64_t distance) {
    return error - std::min(error, distance);
  };
  const std::uint64_t end_ns = std::min(time_ns, call_end_ns_);
  if (end_ns > painted_until_ns_) {
    error_ns = left_of(error_ns, time_ns - end_ns);
    spans_.push_back({painted_until_ns_, end_ns, cause, counterpart, gap,
                      std::min(painted_error_ns_ + error_ns, end_ns - painted_until_ns_)});
    painted_until_ns_ = end_ns;
    painted_error_ns_ = error_ns;
  } else {  // the earlier moment may still have been later, and the next span begin later
    painted_error_ns_ = std::max(painted_error_ns_, left_of(error_ns, painted_until_ns_ - time_ns));
  }
}

/// Paints the rest of the call: wire, because data was on its way, unless the records have a gap.
void CauseFinder::paint_rest(Gap gap, Counterpart counterpart) {
  paint_until(call_end_ns_, gap == Gap::none ? Cause::wire : Cause::unattributed, counterpart, 0, gap);
}

}  // namespace penstock::analysis
