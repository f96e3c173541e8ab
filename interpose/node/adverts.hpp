// Adverts: receives that their receiver has posted into device memory and shows, in memory shared by the
// ranks of a node, to the one sender whose message they will get. interpose/posted/README.md states the rule.
// Knows no MPI call.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/node/message_name.hpp"
#include "interpose/node/state_word.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::interpose {

enum class AdvertState : std::uint32_t {
  free,
  open,   ///< the sender may take it
  taken,  ///< the sender writes to the buffer, or is about to
  over,   ///< the sender has taken it, and will not write any more
};

enum class AdvertSide : std::uint8_t { receiver, sender };

using AdvertMove = StateMove<AdvertSide, AdvertState>;
inline constexpr AdvertMove advert_moves[] = {
    {AdvertSide::receiver, AdvertState::free, AdvertState::open, "its receive is posted"},
    {AdvertSide::receiver, AdvertState::open, AdvertState::free, "its message came another way"},
    {AdvertSide::receiver, AdvertState::taken, AdvertState::free, "its payload has arrived"},
    {AdvertSide::receiver, AdvertState::over, AdvertState::free,
     "its payload has arrived, or comes another way"},
    {AdvertSide::sender, AdvertState::open, AdvertState::taken, "the message is sent"},
    {AdvertSide::sender, AdvertState::taken, AdvertState::over, "the copy has ended, or did not begin"},
};

/// Lies in shared memory; owned by the receiver. Between `free` and `open` only the receiver writes to it;
/// while it is taken nobody writes to anything but its state. Each use has another number: a sender that
/// moves it from `open` to `taken` has read the fields of that very use.
struct alignas(64) Advert {
  StateWord<advert_moves> state;
  StoredName name;
  std::atomic<std::uint64_t> capacity_bytes;
  std::atomic<std::uint32_t> ready;  ///< 1: the receiver's earlier GPU work on the buffer is done
  transports::Offer target;          ///< describes the buffer; its size is the capacity

  /// Returns false, and changes nothing, if the advert is in another state or use.
  template <AdvertSide side, AdvertState from, AdvertState to>
  [[nodiscard]] bool move(std::uint32_t use) noexcept {
    return state.move<side, from, to>(use);
  }
  [[nodiscard]] AdvertState get() const noexcept { return state.get(); }
  /// Returns `free` if the advert is in another use.
  [[nodiscard]] AdvertState get(std::uint32_t use) const noexcept { return state.get(use); }
  [[nodiscard]] std::uint32_t use() const noexcept { return state.generation(); }
  /// For the receiver: returns true if the advert may serve another receive. The GPU may still have to write
  /// `ready` for the last one.
  [[nodiscard]] bool is_free() const noexcept {
    return get() == AdvertState::free && (use() == 0 || ready.load(std::memory_order_acquire) != 0);
  }
  /// For the receiver: shows a free advert whose fields are written. Returns its use.
  std::uint32_t show() noexcept {
    // never refused, as only the receiver moves a free one
    static_cast<void>(state.begin_use<AdvertSide::receiver, AdvertState::open>());
    return use();
  }
};

inline constexpr std::uint32_t adverts_per_rank = 256;  ///< receives of a rank that are shown at a time
/// An advert lies in one of so many places that follow each other, as its name says. Both sides look there.
inline constexpr std::uint32_t places_for_an_advert = 8;

/// Returns the first of a name's places.
[[nodiscard]] constexpr std::uint32_t first_place_of(const MessageName& name) noexcept {
  std::uint64_t hash = name.communicator;
  for (const std::uint64_t part : {name.ordinal, std::uint64_t{static_cast<std::uint32_t>(name.tag)},
                                   std::uint64_t{static_cast<std::uint32_t>(name.sender)}}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::uint32_t>(hash >> 32) % adverts_per_rank;
}

}  // namespace penstock::interpose
