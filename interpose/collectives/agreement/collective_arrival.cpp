#include "interpose/collectives/agreement/collective_arrival.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/agreement/message_communicators.hpp"
#include "interpose/collectives/agreement/spare_communicators.hpp"
#include "interpose/collectives/deferred/deferred_collectives.hpp"
#include "interpose/collectives/schedules/node_map.hpp"
#include "interpose/node/gpu_in_sight.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/vote_slots.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

/// Returns this rank's note, made at the first collective; none if there is no room, which the others can
/// see.
std::optional<ClaimedVoteSlot> vote_slot_of(MPI_Comm communicator, CommunicatorInfo& info,
                                            DirectoryRow& row) noexcept try {
  if (info.vote_slot == nullptr) {
    // if other ranks have other ids, no rank reads it
    const std::vector<int> members = info.id_is_agreed ? members_of(communicator, info) : std::vector<int>();
    info.vote_slot =
        std::make_shared<VoteSlot>(row, info.global_id, Readers::among(row, info.global_id, members));
  }
  return info.vote_slot->get();
} catch (const std::bad_alloc&) {
  row.forgets_arrivals.store(true, std::memory_order_release);
  return std::nullopt;
}

/// Progresses until the other ranks have arrived. A rank with more communicators than places does not note
/// all its arrivals. Ranks may also count differently: one has repeated a call that failed on it, or they
/// know the communicator by different ids. Therefore every wait has a limit; when it expires, this rank first
/// ends everything that others need of it.
void await_others(MPI_Comm communicator, CommunicatorInfo& info, std::uint32_t ordinal) try {
  const std::uint64_t timeout_ns = transports::tuning().receiver_timeout_us * 1000;
  const bool is_trusted = info.id_is_agreed && info.is_in_step.load(std::memory_order_relaxed);
  const std::uint64_t begin_ns = record::now_ns();
  bool is_in_step = true;
  Backoff backoff;
  for (const int member : members_of(communicator, info)) {
    const DirectoryRow* const row = member >= 0 ? node_directory().row_of(member) : nullptr;
    // on another node, and sent no envelopes; or this rank itself
    if (row == nullptr || row == node_directory().own_row()) continue;
    for (;;) {
      const Seen seen = look_for_arrival(*row, info.global_id, ordinal).seen;
      if (seen == Seen::here) break;
      const bool is_late = seen == Seen::not_yet && is_trusted;
      const std::uint64_t limit_ns =
          (is_late ? policy::late_arrival_factor : policy::unknown_arrival_factor) * timeout_ns;
      if (record::now_ns() - begin_ns > limit_ns) {
        is_in_step = is_in_step && seen == Seen::unknown;
        settle_until([&] { return look_for_arrival(*row, info.global_id, ordinal).seen == Seen::here; });
        break;
      }
      progress();
      backoff.pause();
    }
  }
  info.is_in_step.store(is_in_step, std::memory_order_relaxed);
} catch (const std::bad_alloc&) {
  // without memory, no rank can be waited for
}

/// Returns the rows of all members, once they are found: a rank may still be in MPI_Init. Empty if some rank
/// is not on this node, or if the members may not mean the same communicator.
const std::vector<const DirectoryRow*>& rows_of(MPI_Comm communicator, CommunicatorInfo& info) {
  if (!info.rows.empty() || info.looks_for_rows == policy::most_looks_for_rows) return info.rows;
  ++info.looks_for_rows;
  std::vector<const DirectoryRow*> rows;
  for (const int member : members_of(communicator, info)) {
    rows.push_back(member >= 0 ? node_directory().row_of(member) : nullptr);
  }
  const bool all_are_here =
      info.id_is_agreed && !info.is_inter && std::ranges::find(rows, nullptr) == rows.end();
  if (all_are_here) info.rows = std::move(rows);
  return info.rows;
}

/// The outcome of all ranks' votes; the same on every rank that reads them.
struct Meeting {
  Decision decision = Decision::library;
  bool starts_deferring = false;
};

/// Waits without limit for a rank that meets the others, as any collective does. A rank that cannot be found
/// has cast no vote and never will.
Arrival wait_for(const DirectoryRow& row, const CommunicatorInfo& info, std::uint32_t ordinal) {
  Arrival arrival = look_for_arrival(row, info.global_id, ordinal);
  for (Backoff backoff; arrival.seen == Seen::not_yet; backoff.pause()) {
    progress();
    arrival = look_for_arrival(row, info.global_id, ordinal);
  }
  return arrival;
}

Meeting meet_on_node(const CommunicatorInfo& info, std::uint32_t ordinal) {
  bool all_agree = true;
  bool all_launch = true;
  bool is_preferred = false;
  bool all_meet = true;
  bool some_defer = false;
  std::uint16_t signature = 0;
  for (const DirectoryRow* const row : info.rows) {
    const Arrival arrival = wait_for(*row, info, ordinal);
    const Ballot& ballot = arrival.ballot;
    all_agree = all_agree && arrival.seen == Seen::here && ballot.vote != Vote::library;
    all_launch = all_launch && ballot.vote == Vote::kernels;
    is_preferred = is_preferred || has_device_buffer(ballot.vote);
    all_meet = all_meet && arrival.seen == Seen::here && ballot.meets;
    some_defer = some_defer || ballot.defers;
    // if signatures differ, the MPI library gets the call and reports the error as it always does
    if (signature == 0) signature = ballot.signature;
    all_agree = all_agree && (ballot.signature == 0 || ballot.signature == signature);
  }
  const Decision agreed = all_launch ? Decision::kernels : Decision::messages;
  return {all_agree && is_preferred ? agreed : Decision::library, all_meet && some_defer};
}

/// Opens the communicator's non-blocking collectives; all ranks call this in the same collective. The
/// communicator for their messages is made now, as making one has to wait for other ranks.
void start_deferring(MPI_Comm communicator, CommunicatorInfo& info) {
  if (info.deferred->is_open() || info.has_no_messages) return;
  const MPI_Comm messages = messages_of(communicator);
  DirectoryRow* const first = node_directory().row_of(info.world_ranks.front());
  AgreementRing* const agreements = first != nullptr ? find_agreements(*first, info.global_id) : nullptr;
  if (messages == MPI_COMM_NULL || agreements == nullptr) return;
  info.deferred->open(Agreement(*agreements, info.size), messages, info);
}

/// Returns this rank's vote. A rank that does not meet the others enters the library's call at once, and its
/// vote has to show that.
Ballot ballot_on(MPI_Comm communicator, CommunicatorInfo& info, bool can_be_found,
                 const Proposal& proposal) try {
  using Kind = NodeDirectory::DeviceCollectives;
  if (std::exchange(info.repeats_arrival, false)) return info.ballot;
  if (!can_be_found) return {};
  const bool wants_to_meet = has_device_buffer(proposal.vote);
  if (wants_to_meet) node_directory().note_device_collective(Kind::blocking);
  const Kind seen = node_directory().device_collectives_seen();
  if (seen == Kind::none) return {};
  const std::vector<const DirectoryRow*>& rows = rows_of(communicator, info);
  if (rows.empty()) return {};
  info.meets = info.meets || info.wants_to_meet || wants_to_meet ||
               std::ranges::any_of(
                   rows, [&](const DirectoryRow* row) { return has_met_others(*row, info.global_id); });
  if (!info.meets) return {};
  // allocated now, as nothing may fail once all ranks have voted
  if (info.deferred == nullptr) info.deferred = std::make_shared<DeferredCollectives>();
  return {proposal.vote, true, seen == Kind::nonblocking, proposal.signature()};
} catch (const std::bad_alloc&) {
  return {};
}

/// Returns the vote on a new communicator, on which no rank meets others yet.
Ballot ballot_on_new(MPI_Comm communicator, CommunicatorInfo& info, bool can_be_found) try {
  if (!can_be_found || !are_spares_wanted() || !is_gpu_in_sight() || rows_of(communicator, info).empty())
    return {};
  info.deferred = std::make_shared<DeferredCollectives>();
  return {.vote = Vote::any, .defers = true};
} catch (const std::bad_alloc&) {
  return {};
}

/// Counts the arrivals. Collectives of one communicator never overlap, so no other thread counts at the same
/// time.
std::uint32_t count_arrival(CommunicatorInfo& info) noexcept {
  const std::uint32_t ordinal = info.arrivals.load(std::memory_order_relaxed) + 1;
  info.arrivals.store(ordinal, std::memory_order_relaxed);
  return ordinal;
}

}  // namespace

Decision arrive(MPI_Comm communicator, const Proposal& proposal) {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return Decision::library;
  if (spans_nodes(communicator, *info)) return meet_between_nodes(communicator, *info, proposal);
  DirectoryRow* const row = node_directory().own_row();
  if (row == nullptr) return Decision::library;
  const std::uint32_t ordinal = count_arrival(*info);
  const std::optional<ClaimedVoteSlot> slot = vote_slot_of(communicator, *info, *row);
  const bool can_be_found = slot && slot->is_certain;
  info->ballot = ballot_on(communicator, *info, can_be_found, proposal);
  if (slot) note_arrival(*row, slot->index, ordinal, info->ballot);
  if (info->ballot.meets) {
    const Meeting meeting = meet_on_node(*info, ordinal);
    if (meeting.starts_deferring) start_deferring(communicator, *info);
    return meeting.decision;
  }
  if (must_poll()) [[unlikely]]
    await_others(communicator, *info, ordinal);
  return Decision::library;
}

void arrive_at_new(MPI_Comm made) {
  CommunicatorInfo* const info = peek_info(made);
  DirectoryRow* const row = node_directory().own_row();
  if (info == nullptr || row == nullptr || info->is_inter || info->size == 1) return;
  const std::uint32_t ordinal = count_arrival(*info);
  const std::optional<ClaimedVoteSlot> slot = vote_slot_of(made, *info, *row);
  const Ballot ballot = ballot_on_new(made, *info, slot && slot->is_certain);
  if (slot) note_arrival(*row, slot->index, ordinal, ballot);
  if (!ballot.defers) return;
  bool all_defer = true;
  for (const DirectoryRow* const member : info->rows) {
    const Arrival arrival = wait_for(*member, *info, ordinal);
    all_defer = all_defer && arrival.seen == Seen::here && arrival.ballot.defers;
  }
  if (!all_defer) return;
  start_deferring(made, *info);
  if (info->deferred->is_open()) note_spare(info_of(made));
}

bool are_all_on_node(MPI_Comm communicator, CommunicatorInfo& info) {
  return !rows_of(communicator, info).empty();
}

void request_deferral(CommunicatorInfo& info) noexcept {
  info.wants_to_meet = true;
  node_directory().note_device_collective(NodeDirectory::DeviceCollectives::nonblocking);
}

void take_back_arrival(MPI_Comm communicator) noexcept {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return;
  if (spans_nodes(communicator, *info)) {
    info->has_met = true;
  } else {
    info->arrivals.fetch_sub(1, std::memory_order_relaxed);
    info->repeats_arrival = true;
  }
}

void note_leaving(MPI_Comm communicator) noexcept {
  CommunicatorInfo* const info = peek_info(communicator);
  DirectoryRow* const row = node_directory().own_row();
  if (info == nullptr || row == nullptr || (info->size == 1 && !info->is_inter)) return;
  static_cast<void>(vote_slot_of(communicator, *info, *row));
}

}  // namespace penstock::interpose
