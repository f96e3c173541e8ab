// One receive into any kind of buffer, from its posting to its status: tells an envelope from a payload when
// a message arrives, and moves either to its destination. Receives are posted by receiving.hpp.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/messages/message_record.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/posted/shown_receive.hpp"
#include "interpose/progress/host_receives.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/protocol/destination_forecast.hpp"
#include "interpose/protocol/joint_uploads.hpp"
#include "interpose/protocol/matched_messages.hpp"
#include "interpose/protocol/open_delivery.hpp"
#include "interpose/protocol/receive_buffer.hpp"
#include "interpose/protocol/receiving.hpp"
#include "transports/host/recycled.hpp"

namespace penstock::interpose {

class Receive final : public Pending,
                      public HostReceive,
                      public JointUpload,
                      public transports::Recycled<Receive> {
 public:
  /// `communicator`: its record, as the user may free the handle while the receive is pending.
  Receive(const ReceiveCall& call, std::shared_ptr<CommunicatorInfo> communicator, bool on_device) noexcept;
  ~Receive() override;

  [[nodiscard]] CommunicatorInfo* communicator() const noexcept { return communicator_.get(); }

  /// Determines where the payload goes. Call it first. Returns MPI_SUCCESS, or the code of the error that was
  /// raised.
  [[nodiscard]] int prepare(const CallScope& scope, bool blocking);

  /// For a receive that is already complete: passes what was in the user's buffer before.
  void was_in_place(const std::array<std::byte, envelope_bytes>& first_bytes) noexcept {
    buffer_.keep_first_bytes(first_bytes);
  }

  int post(MPI_Request* request);
  int post_matched(MPI_Message* message, MPI_Request* request);
  /// Called when the receive is posted in the MPI library, which will match it with the message of that name.
  void note_name(const MessageName& name) noexcept;
  /// Adopts a message that a probe had received ahead. Returns MPI_SUCCESS, or the code of the error that was
  /// raised.
  [[nodiscard]] int adopt_stashed(const StashedMessage& message);

  bool advance(bool arrived, const MPI_Status& status) override;
  void fix_status(MPI_Status& status) const override;
  int complete(MPI_Status& status, int code) override;
  [[nodiscard]] Progress progress() const override {
    return delivery_ != nullptr ? Progress::always : Progress::receive;
  }
  void arrived(const MPI_Status& status) override;
  void detached() override { request_ = MPI_REQUEST_NULL; }
  int cancel(MPI_Request& request) override;
  [[nodiscard]] bool may_be_large() const override;
  [[nodiscard]] bool should_begin(const MPI_Status& arrived) const override;

 private:
  [[nodiscard]] ErrorTarget errors() const noexcept { return ErrorTarget::of(communicator_); }

  template <typename PostOne>
  int post_by(const MPI_Request* request, PostOne post_one);
  [[nodiscard]] bool is_from_oneself_in_pieces() const noexcept;
  [[nodiscard]] bool cannot_hold_envelope() const noexcept;
  [[nodiscard]] int choose_target(Target wanted);
  [[nodiscard]] int make_room();

  // of HostReceive
  bool read_message(const MPI_Status* arrived) noexcept override;
  void keep_first_bytes() noexcept override { buffer_.keep_first_bytes(); }

  // of JointUpload
  bool has_come(bool may_ask) noexcept override;
  std::optional<transports::Upload> payload() override;
  void uploaded(const Status& status) noexcept override;

  // a payload that an envelope announces
  void begin_delivery(const Envelope& envelope, const MPI_Status& status);
  [[nodiscard]] transports::BufferView staging_place();
  bool step_delivery();
  [[nodiscard]] bool was_written() const noexcept { return envelope_ && shown_.is_named_by(*envelope_); }
  void refuse_misplaced(const Envelope& envelope);
  void note_failure_of_library() const noexcept;

  // a payload that came through the MPI library
  void copy_to_destination(const void* bytes, std::uint64_t count, const MPI_Status& status);
  void write(const void* bytes, std::uint64_t count, const char* reason);
  [[nodiscard]] bool stream_order_allows();
  [[nodiscard]] bool copy_stashed();

  void note_copy(HostDeviceCopy copy, bool crossed, const MPI_Status& status) const;
  void note_host_payload(std::uint64_t bytes, const MPI_Status& status) const;
  void note_payload(std::uint64_t bytes, const MPI_Status& status) const;

  /// Where the payload is.
  enum class Payload : std::uint8_t {
    awaited,
    going_to_staging,  ///< on its way to staging memory, from where it will be copied
    in_place,
    too_long,
    misplaced,  ///< in another receive's buffer
  };

  ReceiveCall call_;  ///< after the post, the user may free what its handles stand for
  std::shared_ptr<CommunicatorInfo> communicator_;
  ReceiveBuffer buffer_;
  MPI_Request request_ = MPI_REQUEST_NULL;    ///< the MPI library's, as long as others may query it
  std::optional<MPI_Status> stashed_status_;  ///< if a probe had received the message ahead
  std::vector<std::byte> stashed_bytes_;      ///< its payload, if that is still to be copied
  std::optional<MPI_Status> arrival_;         ///< once read_message() has read it
  std::uint64_t arrived_bytes_ = 0;           ///< from that status
  std::optional<Envelope> envelope_;
  std::unique_ptr<Delivery> delivery_;
  MessageRecord record_;
  std::optional<MessageName> name_;  ///< if messages are counted
  ShownReceive shown_;               ///< to its sender, if that may write to the buffer
  Status status_;
  Payload payload_ = Payload::awaited;
  bool is_cancelled_ = false;  ///< the program has tried to
};

}  // namespace penstock::interpose
