// The sender's side of one payload that is fetched: opens the slot, sends the envelope, buffers the
// payload when the receiver is late or cannot reach it, closes the slot. Knows slots and the sending half of
// the staged, the relayed and the pushed transport.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "interpose/calls/errors.hpp"
#include "interpose/messages/message_record.hpp"
#include "interpose/messages/packing_forecast.hpp"
#include "interpose/messages/receiver_timeout.hpp"
#include "interpose/messages/send_call.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/slots.hpp"
#include "interpose/progress/requests.hpp"
#include "transports/host/recycled.hpp"
#include "transports/host/watch.hpp"
#include "transports/packing/list_pack.hpp"
#include "transports/push_send.hpp"
#include "transports/staged.hpp"

namespace penstock::interpose {

/// Owns its slot until the receiver is through with it; what is left then lingers (see below).
class DeviceSend final : public Pending, public transports::Recycled<DeviceSend> {
 public:
  /// `others_follow`: as SendPlan has it. Takes a slot. Null when none is free or memory is short: stage it
  /// whole.
  [[nodiscard]] static std::unique_ptr<DeviceSend> open(const SendCall& call, transports::Place source,
                                                        int receiver_world_rank, DirectoryRow& receiver,
                                                        bool others_follow);
  ~DeviceSend() override;
  DeviceSend(const DeviceSend&) = delete;
  DeviceSend& operator=(const DeviceSend&) = delete;

  /// Sends the envelope on the user's communicator and tag, and makes the offer. `call` is what it was opened
  /// for.
  int send_envelope(const SendCall& call, MPI_Request* request);

  bool advance(bool arrived, const MPI_Status& status) override;
  int complete(MPI_Status& status, int code) override;
  [[nodiscard]] Progress progress() const override;

  [[nodiscard]] std::uint64_t key() const noexcept { return envelope_.key; }

  MessageRecord record;

 private:
  DeviceSend(const SendCall& call, transports::Place source);
  void publish_offer(const SendCall& call) noexcept;
  void offer(PayloadPlace place) noexcept;
  [[nodiscard]] bool receiver_is_late() noexcept;
  [[nodiscard]] bool take_turn_to_buffer() noexcept;
  void end_turn_to_buffer() noexcept;
  void buffer_payload();
  void note_ready() noexcept;
  void serve_receiver();
  [[nodiscard]] Status answer();
  [[nodiscard]] bool is_in_own_buffer() const noexcept;
  [[nodiscard]] Status stage(bool whole);
  [[nodiscard]] Status stage(const transports::Place& what, bool whole);
  [[nodiscard]] Status pack();
  [[nodiscard]] Status step_pack();
  [[nodiscard]] Status relay();
  [[nodiscard]] Status push();
  [[nodiscard]] Status step_push();
  [[nodiscard]] bool waits_for_a_ring() noexcept;
  void release() noexcept;
  [[nodiscard]] bool is_small() const noexcept;
  [[nodiscard]] bool is_only_probed() const noexcept;
  void give_up(const Status& status) noexcept;

  // of the call, whose communicator may be gone by now:
  const SendMode mode_;
  const ErrorTarget errors_;
  ListLook look_;

  transports::Place source_;
  Envelope envelope_{};
  Slot* slot_ = nullptr;
  DirectoryRow* receiver_ = nullptr;
  std::unique_ptr<transports::ListPack> pack_;  ///< stays while its bitmap is staged
  std::unique_ptr<transports::StagedSend> staged_;
  std::unique_ptr<transports::Pull> push_;
  ReceiverTimeout timeout_;
  std::uint64_t receiver_worked_ns_ = 0;  ///< when its deliveries were last seen to grow
  std::optional<std::uint64_t> deliveries_seen_;
  Status status_;
  transports::Watch watch_;
  bool others_follow_ = false;
  bool is_known_done_ = false;  ///< what the application had queued before it sent this
  bool has_left_ = false;       ///< the envelope, and was not taken back
  bool holds_ring_ = false;     ///< counted among the rings at work
  bool has_turn_ = false;       ///< to buffer a large payload
  bool must_wait_ = false;      ///< the receiver is late, and there is no room to buffer the payload
  bool is_packing_ = false;
  /// It failed while the receiver was at it, who may write to the slot yet: no other message gets that.
  bool is_retired_ = false;
  bool produced_ = false;  ///< the payload has left the user's buffer
  bool whole_ = false;     ///< and all of it lies in the region, or with the receiver
};

/// Slots whose sends are complete for the user but whose receivers still have to come (buffered payloads).
/// The first frees those that are over, the second, in MPI_Finalize, gives up the others.
void reap_lingering_sends() noexcept;
void abandon_lingering_sends() noexcept;

}  // namespace penstock::interpose
