// The receiver's side of one rendezvous within a node: finds the slot, has the chooser pick a transport,
// steps the pull, updates the slot. Knows slots and transports; makes no MPI call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "interpose/messages/delivery.hpp"
#include "interpose/node/slots.hpp"
#include "transports/host/recycled.hpp"
#include "transports/host/watch.hpp"
#include "transports/packing/list_unpack.hpp"
#include "transports/transport.hpp"

namespace penstock::interpose {

/// Owns the receiver's part of a slot until it is finished. Thread: one at a time.
class RendezvousReceive final : public Delivery, public transports::Recycled<RendezvousReceive> {
 public:
  RendezvousReceive(const Envelope& envelope, transports::BufferView destination, std::size_t capacity);
  ~RendezvousReceive() override;

  [[nodiscard]] bool advance() override;
  [[nodiscard]] bool is_under_way() const noexcept override {
    return over_ || pull_ != nullptr || is_unpacking_ || is_written();
  }

  /// Returns the number of small pulls in flight, whose senders must not have to wait for this rank's next
  /// MPI call.
  [[nodiscard]] static const std::atomic<unsigned>& small_ones_in_flight() noexcept;
  /// Returns true if this thread started the latest of them.
  [[nodiscard]] static bool small_ones_are_own() noexcept;

 private:
  /// Makes a move of the receiver. Returns false if the sender moved first or has given the slot to another
  /// message.
  template <SlotState from, SlotState to>
  bool move() const noexcept {
    return slot_->move<Side::receiver, from, to>(envelope_.generation);
  }
  /// Returns `free` if the slot belongs to another message by now.
  [[nodiscard]] SlotState state() const noexcept { return slot_->get(envelope_.generation); }
  /// Returns true if the sender writes the payload to this receive's buffer, as it was posted before.
  [[nodiscard]] bool is_written() const noexcept { return envelope_.advert != 0; }
  [[nodiscard]] bool take_offer();
  [[nodiscard]] bool fetch_from_buffer();
  [[nodiscard]] bool fetch_from_region();
  [[nodiscard]] bool fetch_from_region(const transports::Payload& payload);
  [[nodiscard]] bool fetch_bitmap(transports::Offer offer);
  [[nodiscard]] bool mpi_would_buffer() const noexcept;
  void ask_sender(transports::TransportKind transport, const transports::Payload& payload);
  void ask_to_push();
  [[nodiscard]] bool take_room_for_bitmap(const transports::Payload& payload);
  void ask(SlotRequest request) noexcept;
  void hand_back() noexcept;
  [[nodiscard]] Status failure_of_sender() const noexcept;
  [[nodiscard]] bool look_after_sender();
  [[nodiscard]] bool sender_is_gone() noexcept;
  void await_push() noexcept;
  [[nodiscard]] bool step_pull();
  [[nodiscard]] bool step_unpack();
  [[nodiscard]] bool start(const transports::Payload& payload, transports::Transport& transport);
  [[nodiscard]] bool end(const Status& status);
  void drop_pull() noexcept;

  Slot* slot_ = nullptr;
  std::unique_ptr<transports::ListUnpack> unpack_;  ///< room, while a bitmap may arrive instead of the list
  std::unique_ptr<transports::Pull> pull_;
  transports::Watch watch_;
  transports::TransportSet excluded_;
  bool is_small_in_flight_ = false;  ///< counted by small_ones_in_flight()
  bool is_unpacking_ = false;
  bool over_ = false;
};

/// Completes small pulls whose senders would otherwise wait for this rank's next call. Bounded in time.
void finish_small_pulls() noexcept;

}  // namespace penstock::interpose
