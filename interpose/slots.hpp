// Slots: where a sender and a receiver of one node agree, in memory shared by both, about one payload
// whose envelope is on its way. Knows no MPI call and no road.
//
//        sender                             receiver
//        offered ───────────────────────► pulling ──► done      (it fetches from the sender's buffer)
//           │  ╲ late receiver               │
//           │   ► staging ──► staged ──────► done               (it fetches from the staging region)
//           ▼        ▲               │
//        wants_relaying, wants_staging ◄┘                          (the receiver has no road to the buffer,
//        but
//                                                                  can map memory of its device, or cannot)
//        wants_pushing ──► pushing ──► pushed ──► done             (the sender writes to the receiver's
//                              ╲ cannot: staging                    buffer, which `target` names)
//
// A relayed payload is `staged` too: its region's ring lies on the sender's device; the receiver that cannot
// map it says wants_staging then. `failed`: the receiver gave up, the sender need not wait. Only the side
// named moves a slot out of a state. By the receiver: offered → pulling | wants_…, staged → wants_staging,
// wants_pushing → failed; by the sender: offered → staging, wants_… → staging | pushing; both sides by
// compare-exchange where the other might be at it.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/offer.hpp"

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
  std::atomic<std::uint32_t> ready;  ///< 1: the sender's earlier GPU work is done, the payload may be read
  std::uint32_t receiver;            ///< world rank it was sent to
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
