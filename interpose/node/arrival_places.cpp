#include "interpose/node/arrival_places.hpp"

#include <algorithm>

namespace penstock::interpose {
namespace {

/// What a place says: to how many collectives the rank has come, in the lower half; above it the preference
/// for the last of even and of odd ordinal, two bits each.
constexpr unsigned preference_shift(std::uint32_t ordinal) noexcept {
  return 32 + 2 * (ordinal & 1u);
}
constexpr Preference preference_in(std::uint64_t said, std::uint32_t ordinal) noexcept {
  return static_cast<Preference>(said >> preference_shift(ordinal) & 3u);
}

constexpr std::uint64_t not_zero(std::uint64_t communicator_id) noexcept {
  return communicator_id != 0 ? communicator_id : 1;
}
constexpr std::uint32_t home_of(std::uint64_t communicator_id) noexcept {
  return static_cast<std::uint32_t>(communicator_id % arrival_places);
}

/// What the row says of that communicator.
std::optional<std::uint64_t> find(const DirectoryRow& row, std::uint64_t communicator_id) noexcept {
  for (std::uint32_t step = 0; step < arrival_places; ++step) {
    const ArrivalNote& note = row.arrivals[(home_of(communicator_id) + step) % arrival_places];
    const std::uint64_t communicator = note.communicator.load(std::memory_order_acquire);
    if (communicator == 0) break;  // places are taken in this order, and never emptied
    if (communicator != not_zero(communicator_id)) continue;
    const std::uint64_t said = note.said.load(std::memory_order_acquire);
    // the place may have become another's in between
    if (note.communicator.load(std::memory_order_relaxed) == communicator) return said;
  }
  return std::nullopt;
}

}  // namespace

Arrival look_for_arrival(const DirectoryRow& row, std::uint64_t communicator_id,
                         std::uint32_t ordinal) noexcept {
  std::optional<std::uint64_t> said = find(row, communicator_id);
  if (!said) {
    if (!row.forgets_arrivals.load(std::memory_order_acquire)) return {Seen::not_yet};
    said = find(row, communicator_id);  // it may have got its place before the row forgot anything
    if (!said) return {Seen::unknown};
  }
  const auto ahead = static_cast<std::int32_t>(static_cast<std::uint32_t>(*said) - ordinal);
  if (ahead < 0) return {Seen::not_yet};
  return {Seen::here, ahead <= 1 ? preference_in(*said, ordinal) : Preference::library};
}

bool has_preferred_messages(const DirectoryRow& row, std::uint64_t communicator_id) noexcept {
  const std::optional<std::uint64_t> said = find(row, communicator_id);
  return said &&
         (preference_in(*said, 0) == Preference::messages || preference_in(*said, 1) == Preference::messages);
}

void note_arrival(DirectoryRow& row, std::uint32_t place, std::uint32_t ordinal,
                  Preference preference) noexcept {
  std::atomic<std::uint64_t>& said = row.arrivals[place].said;
  const std::uint64_t before =
      said.load(std::memory_order_relaxed) >> 32 & ~(std::uint64_t{3} << (preference_shift(ordinal) - 32));
  said.store(before << 32 |
                 std::uint64_t{static_cast<std::uint8_t>(preference)} << preference_shift(ordinal) | ordinal,
             std::memory_order_release);
}

std::optional<ClaimedPlace> ArrivalPlaces::claim(DirectoryRow& row, std::uint64_t communicator_id) noexcept {
  const std::lock_guard guard(mutex_);
  const bool is_certain = !row.forgets_arrivals.load(std::memory_order_relaxed);
  const auto take = [&](std::uint32_t at) {
    places_[at] = {0, true, {}};
    // now, since a communicator whose place comes to lie behind it must be found past it
    row.arrivals[at].said.store(0, std::memory_order_release);
    row.arrivals[at].communicator.store(not_zero(communicator_id), std::memory_order_release);
    return ClaimedPlace{at, is_certain};
  };
  std::optional<std::uint32_t> oldest;
  for (std::uint32_t step = 0; step < arrival_places; ++step) {
    const std::uint32_t at = (home_of(communicator_id) + step) % arrival_places;
    const Place& place = places_[at];
    if (!place.is_claimed) return take(at);
    const bool is_free = place.released != 0 && place.readers.have_left();
    if (is_free && (!oldest || place.released < places_[*oldest].released)) oldest = at;
  }
  row.forgets_arrivals.store(true, std::memory_order_release);
  if (!oldest) return std::nullopt;
  ClaimedPlace again = take(*oldest);
  again.is_certain = false;
  return again;
}

bool Readers::have_left() const noexcept {
  return std::ranges::none_of(rows, [&](const DirectoryRow* row) {
    return look_for_arrival(*row, communicator_id, ordinal).seen == Seen::not_yet;
  });
}

void ArrivalPlaces::release(std::uint32_t place, Readers readers) noexcept {
  const std::lock_guard guard(mutex_);
  places_[place].readers = std::move(readers);
  places_[place].released = ++releases_;
}

ArrivalPlaces& own_arrival_places() noexcept {
  // never destroyed: communicators may be freed after static destruction has begun
  static ArrivalPlaces& places = *new ArrivalPlaces;
  return places;
}

}  // namespace penstock::interpose
