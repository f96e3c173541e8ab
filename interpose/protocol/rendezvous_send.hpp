// The sender's side of one rendezvous within a node, for a payload in device or host memory. It opens the
// slot, sends the envelope, buffers the payload if the receiver is late or cannot reach it, and closes the
// slot. Or writes the payload to the receive that its receiver has posted. Knows slots, the packing of lists,
// and the sending half of the staged, the relayed and the pushed transport.
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
#include "interpose/posted/found_receive.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/protocol/sender_limits.hpp"
#include "transports/host/recycled.hpp"
#include "transports/host/watch.hpp"
#include "transports/ipc/push_send.hpp"
#include "transports/packing/list_pack.hpp"
#include "transports/staged/staged_send.hpp"

namespace penstock::interpose {

/// Owns its slot until the receiver is done with it. A completed send whose receiver is not done lingers
/// (lingering_sends.hpp).
class RendezvousSend final : public Pending, public transports::Recycled<RendezvousSend> {
 public:
  /// Takes a slot. `others_follow`: as in SendPlan. Returns null if no slot is free; the caller then stages
  /// the whole payload. Errors: std::bad_alloc.
  [[nodiscard]] static std::unique_ptr<RendezvousSend> open(const SendCall& call,
                                                            transports::BufferView source,
                                                            int receiver_world_rank, DirectoryRow& receiver,
                                                            bool others_follow);
  ~RendezvousSend() override;
  RendezvousSend(const RendezvousSend&) = delete;
  RendezvousSend& operator=(const RendezvousSend&) = delete;

  /// Starts to write the payload to a posted receive. Returns false if that is impossible: the payload then
  /// goes the usual way. Before send_envelope().
  [[nodiscard]] bool write_to(FoundReceive receive);

  /// Sends the envelope on the user's communicator and tag, and publishes the offer. `call` must be the one
  /// given to open().
  int send_envelope(const SendCall& call, MPI_Request* request);

  bool advance(bool arrived, const MPI_Status& status) override;
  int complete(MPI_Status& status, int code) override;
  [[nodiscard]] Progress progress() const override;

  [[nodiscard]] std::uint64_t key() const noexcept { return envelope_.key; }

  MessageRecord record;

 private:
  RendezvousSend(const SendCall& call, transports::BufferView source);
  [[nodiscard]] int post(const SendCall& call, MPI_Request* request) noexcept;
  void publish_offer(const SendCall& call) noexcept;
  void end_write() noexcept;
  void drop_push() noexcept;
  void offer(PayloadLocation location) noexcept;
  [[nodiscard]] bool receiver_is_late() noexcept;
  void buffer_payload();
  void note_ready() noexcept;
  void serve_receiver();
  [[nodiscard]] Status answer();
  [[nodiscard]] bool is_in_own_buffer() const noexcept;
  [[nodiscard]] Status stage(bool whole);
  [[nodiscard]] Status stage(const transports::BufferView& what, bool whole);
  [[nodiscard]] Status pack();
  [[nodiscard]] Status step_pack();
  [[nodiscard]] Status relay();
  [[nodiscard]] Status push();
  [[nodiscard]] Status step_push();
  [[nodiscard]] bool waits_for_a_ring() noexcept;
  void release() noexcept;
  [[nodiscard]] bool mpi_would_buffer() const noexcept;
  [[nodiscard]] bool is_only_probed() const noexcept;
  void give_up(const Status& status) noexcept;

  // copies of the call's data, as the user may have freed its communicator:
  const SendMode mode_;
  const ErrorTarget errors_;
  ListLook look_;

  transports::BufferView source_;
  Envelope envelope_{};
  Slot* slot_ = nullptr;
  DirectoryRow* receiver_ = nullptr;
  std::unique_ptr<transports::ListPack> pack_;  ///< stays alive while its bitmap is staged
  std::unique_ptr<transports::StagedSend> staged_;
  std::unique_ptr<transports::Pull> push_;
  FoundReceive posted_;  ///< where push_ writes, if the receiver did not ask for it
  RingShare ring_;
  BufferingTurn turn_to_buffer_;
  ReceiverTimeout timeout_;
  std::uint64_t receiver_worked_ns_ = 0;  ///< when the receiver's deliveries were last seen to grow
  std::optional<std::uint64_t> deliveries_seen_;
  Status status_;
  transports::Watch watch_;
  bool others_follow_ = false;
  bool is_known_done_ = false;  ///< what the application had queued before this send has completed
  bool has_left_ = false;       ///< the envelope has been sent and was not cancelled
  bool must_wait_ = false;      ///< the receiver is late, and there is no room to buffer the payload
  bool is_packing_ = false;
  bool is_written_ = false;           ///< to a posted receive
  bool is_signalled_by_gpu_ = false;  ///< that is_written_, by the slot's `ready`
  /// This send failed while the receiver was pulling. The receiver may still write to the slot, so no other
  /// message gets it.
  bool is_retired_ = false;
  bool produced_ = false;  ///< the payload has left the user's buffer
  bool whole_ = false;     ///< all of the payload lies in the region or has reached the receiver
};

}  // namespace penstock::interpose
