#include "analysis/causes.hpp"

#include <algorithm>
#include <utility>

namespace penstock::analysis {
namespace {

/// The latest of several moments that a call had to wait for, and who was to blame.
struct LastMoment {
  std::uint64_t time_ns = 0;
  Cause cause = Cause::unattributed;
  Counterpart counterpart;

  void consider(std::uint64_t candidate_ns, Cause why, Counterpart who) {
    if (candidate_ns > time_ns) {
      *this = {candidate_ns, why, who};
    }
  }
};

TransferFacts facts_of(const trace::Transfer& record, std::uint32_t host) {
  return {record.key, record.begin_ns, record.end_ns, host, record.pack_ns, record.wait_ns, record.transport};
}

}  // namespace

std::string_view name_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::late_sender:
      return "late sender";
    case Cause::late_receiver:
      return "late receiver";
    case Cause::collective_wait:
      return "wait at collective";
    case Cause::wire:
      return "wire";
    case Cause::staging:
      return "packing, staging";
    case Cause::gpu_not_ready:
      return "GPU not ready";
    case Cause::missing_progress:
      return "missing progress";
    case Cause::unattributed:
      break;
  }
  return "unattributed";
}

std::string_view identifier_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::late_sender:
      return "late_sender";
    case Cause::late_receiver:
      return "late_receiver";
    case Cause::collective_wait:
      return "wait_at_collective";
    case Cause::wire:
      return "wire";
    case Cause::staging:
      return "packing_or_staging";
    case Cause::gpu_not_ready:
      return "gpu_not_ready";
    case Cause::missing_progress:
      return "missing_progress";
    case Cause::unattributed:
      break;
  }
  return "unattributed";
}

std::span<const std::uint32_t> CauseFinder::ByCall::of(std::uint32_t call) const {
  return std::span(items).subspan(first[call], first[call + 1] - first[call]);
}

/// Counting sort of records by the call that each lies in; those in no call are left out.
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
  for (const Half& half : rank.halves) {
    calls.push_back(rank.call_at(half.lane, half.record.complete_ns));
  }
  halves_of_call_ = group(calls);
  calls.clear();
  for (const Transfer& transfer : rank.transfers) {
    const bool is_of_a_message = transfer.record.key != 0;  // found by its key
    calls.push_back(is_of_a_message ? RankTrace::no_call
                                    : rank.call_at(transfer.lane, transfer.record.end_ns));
  }
  keyless_transfers_of_call_ = group(calls);
}

std::span<const CauseSpan> CauseFinder::explain(std::uint32_t call) {
  const trace::MpiCall& record = rank_.calls[call].record;
  spans_.clear();
  moving_.clear();
  painted_until_ns_ = record.begin_ns;
  call_end_ns_ = record.end_ns;

  const std::span<const std::uint32_t> halves = halves_of_call_.of(call);
  const std::span<const std::uint32_t> transfers = keyless_transfers_of_call_.of(call);
  if (const Arrivals* arrivals = index_.arrivals_at(rank_, record);
      arrivals != nullptr && record.waits != 0) {
    explain_collective(record, *arrivals, transfers);
  } else if (!halves.empty()) {
    explain_messages(halves, transfers);
  } else {
    for (const std::uint32_t each : transfers) {
      moving_.push_back(facts_of(rank_.transfers[each].record, host_));
    }
    const Counterpart counterpart{std::max(record.peer, -1), record.communicator};
    paint_transfers(counterpart);
    // a call that cannot wait but carries bytes was handing them over
    paint_until(call_end_ns_, record.waits == 0 ? Cause::wire : Cause::unattributed, counterpart);
  }
  return spans_;
}

void CauseFinder::explain_messages(std::span<const std::uint32_t> halves,
                                   std::span<const std::uint32_t> transfers) {
  // a blocking call waits for its own messages only, though older ones may complete meanwhile
  const bool is_blocking = std::any_of(halves.begin(), halves.end(), [this](std::uint32_t half) {
    return rank_.halves[half].record.blocking != 0;
  });
  LastMoment posted;
  LastMoment noticed;
  Counterpart last;
  std::uint64_t last_complete_ns = 0;
  bool is_explained = true;
  for (const std::uint32_t half : halves) {
    const trace::MessageHalf& record = rank_.halves[half].record;
    if (is_blocking && record.blocking == 0) {
      continue;
    }
    const Counterpart counterpart{std::max(record.peer, -1), record.communicator};
    if (record.complete_ns >= last_complete_ns) {
      last_complete_ns = record.complete_ns;
      last = counterpart;
    }
    for (const TransferFacts& each : index_.transfers_of(record.key)) {
      if (shares_our_clock(each.host)) {
        moving_.push_back(each);
      }
    }
    const HalfFacts* partner = index_.partner_of(rank_, position_, half);
    if (partner == nullptr || !shares_our_clock(partner->host)) {
      is_explained = false;
      continue;
    }
    const bool is_send = record.direction == trace::Direction::send;
    if (partner->post_ns <= record.complete_ns) {
      posted.consider(partner->post_ns, is_send ? Cause::late_receiver : Cause::late_sender, counterpart);
    }
    // Penstock's receiver pulls by itself; with the MPI library's transport the sender may have to come back
    // too
    const bool needs_partner = is_send || index_.transfers_of(record.key).empty();
    if (needs_partner && partner->noticed_ns <= record.complete_ns) {
      noticed.consider(partner->noticed_ns, Cause::missing_progress, counterpart);
    }
  }
  for (const std::uint32_t each : transfers) {
    moving_.push_back(facts_of(rank_.transfers[each].record, host_));
  }
  paint_until(posted.time_ns, posted.cause, posted.counterpart);
  paint_until(noticed.time_ns, noticed.cause, noticed.counterpart);
  paint_transfers(last);
  paint_until(call_end_ns_, is_explained ? Cause::wire : Cause::unattributed, last);
}

void CauseFinder::explain_collective(const trace::MpiCall& call, const Arrivals& arrivals,
                                     std::span<const std::uint32_t> transfers) {
  const Counterpart nobody{-1, call.communicator};
  for (const std::uint32_t each : transfers) {
    moving_.push_back(facts_of(rank_.transfers[each].record, host_));
  }
  if (!arrivals.one_host) {  // arrivals of other clocks cannot be compared
    paint_transfers(nobody);
    return paint_until(call_end_ns_, Cause::unattributed, nobody);
  }
  const bool is_root = call.peer == rank_.header.world_rank;
  if (!is_root && arrivals.root_ns != 0 && flows_from_root(rank_.strings.at(call.function))) {
    paint_until(arrivals.root_ns, Cause::collective_wait, {call.peer, call.communicator});
    paint_transfers(nobody);
    return paint_until(call_end_ns_, Cause::wire, nobody);
  }
  if (arrivals.last_ns <= call.end_ns) {  // else it left before the last one came, and did not wait for it
    paint_until(arrivals.last_ns, Cause::collective_wait, {arrivals.last_rank, call.communicator});
  }
  paint_transfers(nobody);
  const bool is_complete = arrivals.seen >= arrivals.expected;
  paint_until(call_end_ns_, is_complete ? Cause::wire : Cause::unattributed, nobody);
}

/// Within a transfer, waiting is put first, then packing: only their lengths are recorded.
void CauseFinder::paint_transfers(Counterpart counterpart) {
  std::sort(moving_.begin(), moving_.end(), [](const TransferFacts& left, const TransferFacts& right) {
    return left.begin_ns < right.begin_ns;
  });
  for (const TransferFacts& each : moving_) {
    const bool is_staged = each.transport == trace::TransportKind::staged;
    const bool waits_to_be_staged = is_staged || each.transport == trace::TransportKind::relayed ||
                                    each.transport == trace::TransportKind::network;
    paint_until(each.begin_ns, Cause::wire, counterpart);
    paint_until(std::min(each.begin_ns + each.wait_ns, each.end_ns),
                waits_to_be_staged ? Cause::staging : Cause::gpu_not_ready, counterpart);
    paint_until(std::min(each.begin_ns + each.wait_ns + each.pack_ns, each.end_ns), Cause::staging,
                counterpart);
    paint_until(each.end_ns, is_staged ? Cause::staging : Cause::wire, counterpart);
  }
}

void CauseFinder::paint_until(std::uint64_t time_ns, Cause cause, Counterpart counterpart) {
  const std::uint64_t end_ns = std::min(time_ns, call_end_ns_);
  if (end_ns > painted_until_ns_) {
    spans_.push_back({painted_until_ns_, end_ns, cause, counterpart});
    painted_until_ns_ = end_ns;
  }
}

}  // namespace penstock::analysis
