#include "interpose/node/arrival_places.hpp"

namespace penstock::interpose {
namespace {

/// What a place holds: half of the communicator's id, odd so that no word is 0, and how many of its
/// collectives the rank has come to.
constexpr std::uint32_t tag_of(std::uint64_t communicator_id) noexcept {
  return static_cast<std::uint32_t>(communicator_id >> 32) | 1u;
}
constexpr std::uint32_t tag_in(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 32);
}
constexpr std::uint32_t home_of(std::uint64_t communicator_id) noexcept {
  return static_cast<std::uint32_t>(communicator_id % arrival_places);
}

}  // namespace

Seen look_for_arrival(const DirectoryRow& row, std::uint64_t communicator_id,
                      std::uint32_t ordinal) noexcept {
  for (std::uint32_t step = 0; step < arrival_places; ++step) {
    const std::uint64_t word =
        row.arrivals[(home_of(communicator_id) + step) % arrival_places].load(std::memory_order_acquire);
    if (word == 0) break;  // places are taken in this order, and never emptied
    if (tag_in(word) != tag_of(communicator_id)) continue;
    const std::uint32_t noted = static_cast<std::uint32_t>(word);
    return static_cast<std::int32_t>(noted - ordinal) >= 0 ? Seen::here : Seen::not_yet;
  }
  return row.forgets_arrivals.load(std::memory_order_acquire) ? Seen::unknown : Seen::not_yet;
}

void note_arrival(DirectoryRow& row, std::uint32_t place, std::uint64_t communicator_id,
                  std::uint32_t ordinal) noexcept {
  row.arrivals[place].store(std::uint64_t{tag_of(communicator_id)} << 32 | ordinal,
                            std::memory_order_release);
}

std::optional<std::uint32_t> ArrivalPlaces::claim(DirectoryRow& row, std::uint64_t communicator_id) noexcept {
  const std::lock_guard guard(mutex_);
  const auto take = [&](std::uint32_t at) {
    places_[at] = {0, true};
    // now, since a communicator whose place comes to lie behind it must be found past it
    note_arrival(row, at, communicator_id, 0);
    return at;
  };
  std::optional<std::uint32_t> oldest;
  for (std::uint32_t step = 0; step < arrival_places; ++step) {
    const std::uint32_t at = (home_of(communicator_id) + step) % arrival_places;
    const Place& place = places_[at];
    if (!place.is_claimed) return take(at);
    const bool is_free = place.released != 0;
    if (tag_in(row.arrivals[at].load(std::memory_order_relaxed)) == tag_of(communicator_id)) {
      // the others would take the one for the other; at 512 communicators, 1 job in 10,000 has such a pair
      row.forgets_arrivals.store(true, std::memory_order_release);
      return is_free ? std::optional(take(at)) : std::nullopt;
    }
    if (is_free && (!oldest || place.released < places_[*oldest].released)) oldest = at;
  }
  row.forgets_arrivals.store(true, std::memory_order_release);
  if (oldest) take(*oldest);
  return oldest;
}

void ArrivalPlaces::release(std::uint32_t place) noexcept {
  const std::lock_guard guard(mutex_);
  places_[place].released = ++releases_;
}

ArrivalPlaces& own_arrival_places() noexcept {
  // never destroyed: communicators may be freed after static destruction has begun
  static ArrivalPlaces& places = *new ArrivalPlaces;
  return places;
}

}  // namespace penstock::interpose
