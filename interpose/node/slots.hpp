// Slots: where a sender and a receiver of one node agree, in memory shared by both, about one payload
// whose envelope is on its way. Knows no MPI call and no transport.
//
// Who moves a slot out of a state, and to what (by compare-exchange where the other might be at it):
//
//     offered         receiver: pulling; wants_… (no transport to the buffer); failed (no room for the
//     payload)
//                     sender: staging (the receiver is late)
//     pulling         receiver, which fetches from the sender's buffer: done; offered (the transport
//     declined) wants_relaying  sender: staging (the receiver can map memory of the sender's device)
//     wants_staging   sender: staging (it cannot)
//     wants_pushing   sender: pushing (it is to write to the receiver's buffer, which `target` names)
//                     receiver: failed (it goes)
//     pushing         sender: pushed; staging (it cannot)
//     pushed          receiver: done
//     staging         sender: offered (at first, and for want of room); staged; wants_relaying (no ring free)
//     staged          receiver, which fetches from the region, in host memory or, relayed, in a ring on the
//                     sender's device: done; wants_staging (it cannot map the ring)
//     done, failed    sender: free
//
// Either side moves the slot to `failed` when it gives up; the other need not wait then.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/regions/offer.hpp"

namespace penstock::interpose {

enum class SlotState : std::uint32_t {
  free,
  offered,
  pulling,
  wants_relaying,
  wants_staging,
  wants_pushing,
  pushing,
  pushed,
  staging,
  staged,
  done,
  failed
};

/// Lies in shared memory. Owned by its sender, which alone takes and frees it.
struct alignas(64) Slot {
  std::atomic<SlotState> state;
  std::atomic<std::uint32_t> generation;  ///< counts uses, so that a stale envelope is told
  std::atomic<std::uint32_t> ready;    ///< 1: the sender's earlier GPU work is done, the payload may be read
  std::uint32_t receiver;              ///< world rank it was sent to
  std::atomic<std::uint32_t> stashed;  ///< 1: a probe of the receiver's has the envelope, and no receive yet
  transports::Offer offer;
  transports::Offer target;  ///< the receiver's word on its buffer, from wants_pushing on

  [[nodiscard]] bool move(SlotState from, SlotState to) noexcept {
    return state.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  void set(SlotState to) noexcept { state.store(to, std::memory_order_release); }
  [[nodiscard]] SlotState get() const noexcept { return state.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_over() const noexcept {
    return get() == SlotState::done || get() == SlotState::failed;
  }
};
static_assert(std::atomic<SlotState>::is_always_lock_free);

inline constexpr std::uint32_t slots_per_rank = 1024;

}  // namespace penstock::interpose
