// Slots: memory shared by a sender and a receiver of one node, through which they agree on one payload whose
// envelope is on its way. Knows no MPI call and no transport's code.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/node/state_word.hpp"
#include "transports/host/status.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::interpose {

enum class SlotState : std::uint32_t {
  free,
  preparing,  ///< the sender's turn: it makes the payload available
  offered,    ///< the receiver's turn: the payload is where Slot::location says
  pulling,    ///< the receiver has taken the offer and fetches it
  asked,      ///< the sender's turn: the receiver wants what Slot::request names
  done,       ///< the receiver is done
  failed,     ///< one side has given up; the other need not wait
};

enum class Side : std::uint8_t { sender, receiver };

using SlotMove = StateMove<Side, SlotState>;
inline constexpr SlotMove slot_moves[] = {
    {Side::sender, SlotState::free, SlotState::preparing, "a payload is to be sent"},
    {Side::sender, SlotState::preparing, SlotState::offered, "it can be fetched, or has been pushed"},
    {Side::sender, SlotState::preparing, SlotState::asked, "what it was asked for is taken at the moment"},
    {Side::sender, SlotState::offered, SlotState::preparing, "the receiver is late: the payload is buffered"},
    {Side::receiver, SlotState::offered, SlotState::pulling, "its memory may be written"},
    {Side::receiver, SlotState::pulling, SlotState::offered, "the transport declined before a byte moved"},
    {Side::receiver, SlotState::pulling, SlotState::asked, "no transport reaches the payload there"},
    {Side::receiver, SlotState::pulling, SlotState::done, "the payload has arrived"},
    {Side::sender, SlotState::asked, SlotState::preparing, "it does as it was asked"},
    {Side::sender, SlotState::done, SlotState::free, "it has seen it"},
    {Side::sender, SlotState::failed, SlotState::free, "it has seen it"},
    {Side::sender, SlotState::preparing, SlotState::failed, "it cannot go on"},
    {Side::sender, SlotState::offered, SlotState::failed, "the send was cancelled, or the GPU is lost"},
    {Side::sender, SlotState::pulling, SlotState::failed, "the GPU is lost"},
    {Side::sender, SlotState::asked, SlotState::failed, "it cannot go on"},
    {Side::receiver, SlotState::preparing, SlotState::failed, "the receive is dropped"},
    {Side::receiver, SlotState::offered, SlotState::failed, "the receive is dropped, or too short"},
    {Side::receiver, SlotState::pulling, SlotState::failed, "the transport failed"},
    {Side::receiver, SlotState::asked, SlotState::failed, "the receive is dropped"},
};

/// The location of an offered payload. The sender writes it while it prepares.
enum class PayloadLocation : std::uint32_t {
  sender_buffer,
  region,           ///< host memory or a ring on the sender's device, as the offer describes
  receiver_buffer,  ///< it was pushed there
};

/// The receiver's request. It writes this before the move to `asked`.
enum class SlotRequest : std::uint32_t {
  relay,  ///< through a ring on the sender's device that the receiver can map
  stage,  ///< through host memory
  push,   ///< into the receiver's buffer, described in Slot::target
  pack,   ///< through host memory, as a bitmap if the payload is a list that can be one
};

/// Why a sender has given up, as a Status that crosses processes; `ok`: it does not say.
struct alignas(8) SenderFailure {  // as one word, or Clang calls a library for its atomic
  std::uint32_t code = 0;          ///< a Code
  std::int32_t detail = 0;
};

/// Lies in shared memory. Owned by its sender, which alone takes and frees it and thus knows its present use.
/// A receiver must name the use it means, as the sender may have given up and reused the slot for another
/// message.
struct alignas(64) Slot {
  StateWord<slot_moves> state;
  std::atomic<std::uint32_t> ready;    ///< 1: the sender's earlier GPU work is done, the payload may be read
  std::uint32_t receiver;              ///< world rank of the receiver
  std::atomic<std::uint32_t> stashed;  ///< 1: a probe of the receiver has the envelope, and no receive yet
  std::atomic<PayloadLocation> location;
  std::atomic<SlotRequest> request;
  transports::Offer offer;
  transports::Offer target;            ///< the receiver's description of its buffer, for a push
  std::atomic<SenderFailure> failure;  ///< written by the sender before it moves the slot to `failed`

  template <Side side, SlotState from, SlotState to>
  [[nodiscard]] bool move(std::uint32_t use) noexcept {
    return state.move<side, from, to>(use);
  }
  /// Moves the slot for the sender. Returns false, and changes nothing, if the other side was first.
  template <Side side, SlotState from, SlotState to>
  [[nodiscard]] bool move() noexcept {
    static_assert(side == Side::sender, "a receiver says which use it means");
    return move<side, from, to>(generation());
  }
  /// Starts the next use of a free slot, for the sender.
  [[nodiscard]] bool take() noexcept { return state.begin_use<Side::sender, SlotState::preparing>(); }
  /// Moves the slot to `failed`, unless it is already over. Returns the state before.
  SlotState fail() noexcept { return fail(generation()); }
  /// The same, unless the slot is in another use.
  SlotState fail(std::uint32_t use) noexcept { return state.move_from_any<SlotState::failed>(use, is_end); }
  [[nodiscard]] SlotState get() const noexcept { return state.get(); }
  /// Returns `free` if the slot is in another use.
  [[nodiscard]] SlotState get(std::uint32_t use) const noexcept { return state.get(use); }
  [[nodiscard]] std::uint32_t generation() const noexcept { return state.generation(); }
  [[nodiscard]] bool is_over() const noexcept { return is_end(get()); }

 private:
  static constexpr bool is_end(SlotState state) noexcept {
    return state == SlotState::done || state == SlotState::failed;
  }
};
static_assert(std::atomic<SenderFailure>::is_always_lock_free);

inline constexpr std::uint32_t slots_per_rank = 1024;

}  // namespace penstock::interpose
