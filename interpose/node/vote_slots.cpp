#include "interpose/node/vote_slots.hpp"

#include <climits>
#include <new>
#include <utility>

namespace penstock::interpose {
namespace {

/// A note holds in its lower half the number of collectives at which the rank has arrived. Above it are its
/// votes in the last collective of even and of odd ordinal, 16 bits each.
constexpr std::uint64_t said_mask = 0xffff;
constexpr unsigned said_shift(std::uint32_t ordinal) noexcept {
  return 32 + 16 * (ordinal & 1u);
}
constexpr unsigned signature_shift = 4;
constexpr std::uint64_t bits_of(const Ballot& ballot) noexcept {
  return static_cast<std::uint64_t>(ballot.vote) | (ballot.meets ? 4u : 0u) | (ballot.defers ? 8u : 0u) |
         static_cast<std::uint64_t>(ballot.signature) << signature_shift;
}
constexpr Ballot said_in(std::uint64_t note, std::uint32_t ordinal) noexcept {
  const std::uint64_t bits = note >> said_shift(ordinal) & said_mask;
  return {static_cast<Vote>(bits & 3u), (bits & 4u) != 0, (bits & 8u) != 0,
          static_cast<std::uint16_t>(bits >> signature_shift)};
}

constexpr std::uint64_t not_zero(std::uint64_t communicator_id) noexcept {
  return communicator_id != 0 ? communicator_id : 1;
}
constexpr std::uint32_t home_of(std::uint64_t communicator_id) noexcept {
  return static_cast<std::uint32_t>(communicator_id % vote_slots);
}

/// The slot of that communicator in the row, and its note.
struct Found {
  std::uint32_t slot;
  std::uint64_t note;
};
std::optional<Found> find(const DirectoryRow& row, std::uint64_t communicator_id) noexcept {
  for (std::uint32_t step = 0; step < vote_slots; ++step) {
    const std::uint32_t slot = (home_of(communicator_id) + step) % vote_slots;
    const ArrivalNote& at = row.arrivals[slot];
    const std::uint64_t communicator = at.communicator.load(std::memory_order_acquire);
    if (communicator == 0) break;  // slots are taken in this order and never emptied
    if (communicator != not_zero(communicator_id)) continue;
    const std::uint64_t note = at.ballot.load(std::memory_order_acquire);
    // the slot may have been reused in between
    if (at.communicator.load(std::memory_order_relaxed) == communicator) return Found{slot, note};
  }
  return std::nullopt;
}

}  // namespace

std::uint16_t signature_of(std::uint64_t arguments) noexcept {
  // the multiplier spreads differences over the upper bits
  const std::uint64_t mixed = arguments * 0x9e3779b97f4a7c15u;
  return static_cast<std::uint16_t>(1 + (mixed >> 32) % 4095);
}

Arrival look_for_arrival(const DirectoryRow& row, std::uint64_t communicator_id,
                         std::uint32_t ordinal) noexcept {
  std::optional<Found> found = find(row, communicator_id);
  if (!found) {
    if (!row.forgets_arrivals.load(std::memory_order_acquire)) return {Seen::not_yet, {}};
    found = find(row, communicator_id);  // it may have got its slot before the row forgot anything
    if (!found) return {Seen::unknown, {}};
  }
  const auto ahead = static_cast<std::int32_t>(static_cast<std::uint32_t>(found->note) - ordinal);
  if (ahead < 0) return {Seen::not_yet, {}};
  return {Seen::here, ahead <= 1 ? said_in(found->note, ordinal) : Ballot{}};
}

bool has_failed(const DirectoryRow& row, std::uint64_t communicator_id, std::uint64_t which) noexcept {
  const std::optional<Found> found = find(row, communicator_id);
  if (!found) return false;
  const std::uint64_t failed = row.arrivals[found->slot].failed.load(std::memory_order_acquire);
  return failed == which + 1 || failed == any_collective + 1;
}

bool has_met_others(const DirectoryRow& row, std::uint64_t communicator_id) noexcept {
  const std::optional<Found> found = find(row, communicator_id);
  return found && (said_in(found->note, 0).meets || said_in(found->note, 1).meets);
}

AgreementRing* find_agreements(DirectoryRow& row, std::uint64_t communicator_id) noexcept {
  const std::optional<Found> found = find(row, communicator_id);
  return found ? &row.agreements[found->slot] : nullptr;
}

void note_arrival(DirectoryRow& row, std::uint32_t slot, std::uint32_t ordinal, Ballot ballot) noexcept {
  std::atomic<std::uint64_t>& note = row.arrivals[slot].ballot;
  const std::uint64_t one_before = note.load(std::memory_order_relaxed) & said_mask
                                                                              << said_shift(ordinal + 1);
  note.store(one_before | bits_of(ballot) << said_shift(ordinal) | ordinal, std::memory_order_release);
}

void note_failure(DirectoryRow& row, std::uint32_t slot, std::uint64_t which) noexcept {
  row.arrivals[slot].failed.store(which + 1, std::memory_order_release);
}

std::optional<ClaimedVoteSlot> VoteSlots::claim(DirectoryRow& row, std::uint64_t communicator_id) noexcept {
  const std::lock_guard guard(mutex_);
  if (has_unnotified_) notify_readers();
  const bool is_certain = !row.forgets_arrivals.load(std::memory_order_relaxed);
  const auto take = [&](std::uint32_t at) {
    slots_[at] = {0, true, {}};
    // cleared now, since communicators whose slots lie behind this one must still be found
    row.arrivals[at].ballot.store(0, std::memory_order_release);
    row.arrivals[at].failed.store(0, std::memory_order_relaxed);
    row.arrivals[at].left.store(0, std::memory_order_relaxed);
    for (std::atomic<std::uint64_t>& word : row.agreements[at].words) word.store(0);
    row.agreements[at].given_up.store(0);
    row.agreements[at].use.store(0);
    row.arrivals[at].communicator.store(not_zero(communicator_id), std::memory_order_release);
    return ClaimedVoteSlot{at, is_certain};
  };
  std::optional<std::uint32_t> oldest;
  for (std::uint32_t step = 0; step < vote_slots; ++step) {
    const std::uint32_t at = (home_of(communicator_id) + step) % vote_slots;
    Use& use = slots_[at];
    if (!use.is_claimed) return take(at);
    if (use.released == 0) continue;
    const Readers::State readers = use.readers.look();
    if (readers == Readers::State::left) return take(at);
    if (readers == Readers::State::unknown && (!oldest || use.released < slots_[*oldest].released))
      oldest = at;
  }
  row.forgets_arrivals.store(true, std::memory_order_release);
  if (!oldest) return std::nullopt;
  ClaimedVoteSlot again = take(*oldest);
  again.is_certain = false;
  return again;
}

Readers Readers::among(DirectoryRow& own, std::uint64_t communicator_id,
                       std::span<const int> members) noexcept {
  int first = INT_MAX;
  DirectoryRow* first_row = &own;
  std::uint32_t count = 0;
  for (const int member : members) {
    DirectoryRow* const row = node_directory().row_of(member);
    if (row == nullptr) continue;
    ++count;
    if (member >= first) continue;
    first = member;
    first_row = row;
  }
  return {*first_row, communicator_id, count};
}

Readers::State Readers::look() noexcept {
  if (members_ == 0) return first_ != nullptr ? State::left : State::unknown;
  const std::optional<Found> found = find(*first_, communicator_id_);
  if (!found) {
    if (is_counted_) return State::left;
    const bool had_no_place = first_->forgets_arrivals.load(std::memory_order_acquire);
    return had_no_place ? State::unknown : State::reading;
  }
  std::atomic<std::uint32_t>& left = first_->arrivals[found->slot].left;
  // the slot cannot be reused before this rank has been counted
  if (!std::exchange(is_counted_, true)) left.fetch_add(1);
  return left.load() >= members_ ? State::left : State::reading;
}

void VoteSlots::release(std::optional<std::uint32_t> slot, Readers readers) noexcept {
  const std::lock_guard guard(mutex_);
  static_cast<void>(readers.look());
  has_unnotified_ = has_unnotified_ || !readers.are_notified();
  if (slot) {
    slots_[*slot].readers = readers;
    slots_[*slot].released = ++releases_;
  } else if (!readers.are_notified()) {
    try {
      unnotified_.push_back(readers);
    } catch (const std::bad_alloc&) {
      // the others do not reuse their slots
    }
  }
}

/// Informs the readers whose first rank had no slot yet.
void VoteSlots::notify_readers() noexcept {
  has_unnotified_ = false;
  const auto tell = [&](Readers& readers) {
    static_cast<void>(readers.look());
    has_unnotified_ = has_unnotified_ || !readers.are_notified();
    return readers.are_notified();
  };
  std::erase_if(unnotified_, tell);
  for (Use& use : slots_) {
    if (use.released != 0) static_cast<void>(tell(use.readers));
  }
}

VoteSlot::~VoteSlot() {
  if (node_directory().own_row() == nullptr) return;  // no rank of this job is left to read it
  own_vote_slots().release(slot_ ? std::optional(slot_->index) : std::nullopt, readers_);
}

VoteSlots& own_vote_slots() noexcept {
  // never destroyed: communicators may be freed after static destruction has begun
  static VoteSlots& slots = *new VoteSlots;
  return slots;
}

}  // namespace penstock::interpose
