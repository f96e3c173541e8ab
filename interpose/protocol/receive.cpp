#include "interpose/protocol/receive.hpp"

#include <algorithm>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/calls/transfer_record.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

constexpr const char* in_several_allocations = "the receive buffer's bytes lie in several allocations";
constexpr const char* buffer_is_shared = "another receive was pending in the same buffer";

/// Ends a message that nobody receives, as its sender waits for that.
void refuse(const Envelope& envelope) {
  static_cast<void>(open_delivery(envelope, {}, envelope.payload_bytes));
}

}  // namespace

Receive::Receive(const ReceiveCall& call, std::shared_ptr<CommunicatorInfo> communicator,
                 bool on_device) noexcept
    : call_(call),
      communicator_(std::move(communicator)),
      buffer_(call.buffer, call.count, call.datatype, on_device) {}

Receive::~Receive() {
  delivery_.reset();
  leave();
}

int Receive::prepare(const CallScope& scope, bool blocking) {
  if (buffer_.is_on_device()) note_gpu_use();
  if (!buffer_.inspect()) return errors().raise_freed("MPI_Recv");
  // no transport delivers to several allocations at once
  if (buffer_.is_on_device() && buffer_.is_in_parts()) {
    if (const int code = make_room(); code != MPI_SUCCESS) return code;
  }
  record_.begin(scope, trace::Direction::receive, communicator_, call_.source, call_.tag,
                buffer_.capacity_bytes(), buffer_.kind(), blocking);
  return MPI_SUCCESS;
}

int Receive::post(MPI_Request* request) {
  return post_by(request, [&](void* buffer, MPI_Count count, MPI_Datatype datatype) {
    return pmpi_irecv(buffer, count, datatype, call_.source, call_.tag, call_.communicator, request);
  });
}

int Receive::post_matched(MPI_Message* message, MPI_Request* request) {
  return post_by(request, [&](void* buffer, MPI_Count count, MPI_Datatype datatype) {
    return pmpi_imrecv(buffer, count, datatype, message, request);
  });
}

template <typename PostOne>
int Receive::post_by(const MPI_Request* request, PostOne post_one) {
  const bool is_apart = is_from_oneself_in_pieces() || cannot_hold_envelope();
  const Target wanted = is_apart ? Target::staging_buffer : Target::user_buffer;
  int code = choose_target(wanted);
  if (code == MPI_SUCCESS && is_apart && !buffer_.is_staged()) code = make_room();
  if (code != MPI_SUCCESS) return code;
  if (!buffer_.is_staged() && small_payloads_may_come()) buffer_.keep_first_bytes();
  const ReceiveBuffer::Target target = buffer_.target_of_library();
  code = post_one(target.buffer, target.count, target.datatype);
  request_ = *request;
  if (code == MPI_SUCCESS && buffer_.is_on_device()) enlist(buffer_.device_view());
  return code;
}

/// MPICH 4.0 reports an envelope in a message to oneself as truncated if its size is no multiple of the
/// received elements and these have gaps between them. Returns true if that may happen.
bool Receive::is_from_oneself_in_pieces() const noexcept {
  if (buffer_.is_on_device() || buffer_.is_one_host_piece() || !NodeDirectory::gpu_seen()) return false;
  if (call_.source == MPI_ANY_SOURCE) return true;
  return communicator_ != nullptr && !communicator_->is_inter && call_.source == communicator_->rank;
}

/// Returns true if an envelope would not fit. Empty receives count: if the MPI library truncated an
/// envelope, its sender would wait for ever.
bool Receive::cannot_hold_envelope() const noexcept {
  return !buffer_.is_on_device() && buffer_.capacity_bytes() < envelope_bytes && envelopes_may_come();
}

int Receive::choose_target(Target wanted) {
  if (!buffer_.is_on_device()) {
    const auto [begin, bytes] = buffer_.host_range();
    if (enter(begin, bytes, buffer_.capacity_bytes(), wanted) == wanted) return MPI_SUCCESS;
  } else if (wanted == Target::staging_buffer) {
    return MPI_SUCCESS;
  }
  return make_room();
}

int Receive::make_room() {
  if (buffer_.stage()) return MPI_SUCCESS;
  return errors().raise_status("MPI_Recv", {Code::out_of_memory, "staging memory"});
}

void Receive::note_name(const MessageName& name) noexcept {
  name_ = name;
  if (!buffer_.is_on_device()) return;
  if (const DirectoryRow* const sender = node_directory().row_of(name.sender))
    shown_.show(name, buffer_.device_view(), *sender);
}

int Receive::adopt_stashed(const StashedMessage& message) {
  const int code = choose_target(Target::staging_buffer);
  if (code != MPI_SUCCESS) {
    if (message.envelope) refuse(*message.envelope);
    return code;
  }
  stashed_status_ = message.status;
  record_.matched();
  if (message.envelope) {
    if (Slot* slot = node_directory().find(*message.envelope))
      slot->stashed.store(0, std::memory_order_release);
    begin_delivery(*message.envelope, message.status);
  } else {
    stashed_bytes_ = message.bytes;
    static_cast<void>(copy_stashed());
  }
  return MPI_SUCCESS;
}

/// Copies the payload that a probe had received ahead. Returns true if nothing of it is left.
bool Receive::copy_stashed() {
  if (stashed_bytes_.empty()) return true;
  if (!stream_order_allows()) return false;
  copy_to_destination(stashed_bytes_.data(), stashed_bytes_.size(), *stashed_status_);
  stashed_bytes_.clear();
  return true;
}

bool Receive::advance(bool arrived, const MPI_Status& status) {
  if (delivery_ != nullptr) return step_delivery();
  if (stashed_status_) return copy_stashed();
  if (payload_ == Payload::in_place) {
    if (arrived) note_payload(arrived_bytes_, status);
    return arrived;
  }
  if (!arrived) {
    // query the driver now rather than when the payload is already waiting
    static_cast<void>(stream_order_allows());
    return false;
  }
  note_arrival(status);
  if (name_ && !is_cancelled_ && was_cancelled(status)) note_failure_of_library();
  if (!was_written() && !shown_.withdraw()) return false;
  if (envelope_) {
    record_.matched();
    begin_delivery(*envelope_, status);
    return step_delivery();
  }
  if (!buffer_.is_staged() || was_cancelled(status))
    return true;  // the MPI library did all, or it was cancelled
  if (!stream_order_allows()) return false;
  copy_to_destination(buffer_.staged(), arrived_bytes_, status);
  return true;
}

/// A copy to a device waits for the application's work there, which may end only after this call: it is not
/// begun before.
bool Receive::stream_order_allows() {
  return !buffer_.is_on_device() || buffer_.may_be_written();
}

void Receive::fix_status(MPI_Status& status) const {
  if (stashed_status_) copy_without_error(*stashed_status_, status);
  if (delivery_ != nullptr)
    set_bytes(status, std::min<std::uint64_t>(delivery_->envelope().payload_bytes, buffer_.capacity_bytes()));
  if (payload_ == Payload::too_long) set_bytes(status, buffer_.capacity_bytes());
}

int Receive::complete(MPI_Status& status, int code) {
  if (delivery_ != nullptr) {
    record_.set_key(delivery_->envelope().key);
    if (delivery_->truncated()) payload_ = Payload::too_long;
    if (status_.ok()) status_ = delivery_->status();
  }
  record_.complete(status);
  if (code != MPI_SUCCESS) return code;
  if (payload_ == Payload::too_long) return errors().raise(MPI_ERR_TRUNCATE);
  if (payload_ == Payload::misplaced) return errors().raise(MPI_ERR_OTHER);
  if (!status_.ok()) return errors().raise_status("MPI_Recv", status_);
  return code;
}

void Receive::arrived(const MPI_Status& status) {
  note_arrival(status);
  if (envelope_) node_directory().prefetch_slot(*envelope_);
}

int Receive::cancel(MPI_Request& request) {
  if (!name_) return PMPI_Cancel(&request);
  is_cancelled_ = true;
  return cancel_receive(*communicator_, *name_, request);
}

// The pull of a smaller payload would have to end within the call (RendezvousReceive::take_offer).
bool Receive::may_be_large() const {
  return buffer_.is_on_device() && buffer_.capacity_bytes() > transports::tuning().buffered_to;
}

bool Receive::should_begin(const MPI_Status& arrived) const {
  const auto is_large = [](const Envelope& envelope) {
    return envelope.payload_bytes > transports::tuning().buffered_to;
  };
  if (delivery_ != nullptr) return is_large(delivery_->envelope()) && !delivery_->is_under_way();
  if (envelope_) return is_large(*envelope_);
  Envelope envelope;
  return bytes_of(arrived) == envelope_bytes &&
         read_envelope(buffer_.staged(), node_directory().nonce(), &envelope) && is_large(envelope);
}

bool Receive::read_message(const MPI_Status* arrived) noexcept {
  if (arrival_) return true;
  MPI_Status status;
  int has_come = arrived != nullptr ? 1 : 0;
  const QuietErrors quiet;
  if (arrived != nullptr) {
    status = *arrived;
  } else if (request_ == MPI_REQUEST_NULL ||
             PMPI_Request_get_status(request_, &has_come, &status) != MPI_SUCCESS || has_come == 0) {
    return false;
  }
  arrival_ = status;
  arrived_bytes_ = bytes_of(status);
  buffer_.note_staged(arrived_bytes_);
  const bool may_be_envelope = arrived_bytes_ == envelope_bytes &&
                               (buffer_.is_staged() || buffer_.capacity_bytes() >= envelope_bytes) &&
                               !was_cancelled(status);
  Envelope envelope;
  std::byte bytes[envelope_bytes];
  if (may_be_envelope && take_envelope(buffer_.first_bytes(bytes), &envelope)) {
    envelope_ = envelope;
    if (!buffer_.is_staged() && envelope.payload_bytes < envelope_bytes) buffer_.put_first_bytes_back();
  }
  return true;
}

/// The MPI library has given up the receive by itself: what follows it meets other messages.
void Receive::note_failure_of_library() const noexcept {
  stop_counting_messages();
  static_cast<void>(withdraw_receives_from(*name_));
}

/// Ends a delivery whose payload was written to another receive than MPI has matched the message with: the
/// program has sent messages that Penstock did not see. The payload is where it should not be, so this is
/// an error.
void Receive::refuse_misplaced(const Envelope& envelope) {
  refuse(envelope);
  payload_ = Payload::misplaced;
  record::notice(
      "a message was written to another receive than the MPI library has matched it with, since the program "
      "communicates past Penstock: its own receive fails (PENSTOCK_POSTED_RECEIVES=0 prevents this)");
}

void Receive::begin_delivery(const Envelope& envelope, const MPI_Status& status) {
  if (envelope.advert != 0 && !was_written()) return refuse_misplaced(envelope);
  const bool is_whole = !buffer_.is_in_parts();
  const bool is_direct = is_whole && (buffer_.is_on_device() || may_write());
  delivery_ =
      open_delivery(envelope, is_direct ? buffer_.take_view() : staging_place(), buffer_.capacity_bytes());
  if (!transports::lives_on_device(delivery_->source_kind())) {
    note_host_payload(envelope.payload_bytes, status);
  } else if (envelope.payload_bytes <= policy::most_downloaded_bytes) {
    note_copy(HostDeviceCopy::download, !buffer_.is_on_device() || !is_whole, status);
  }
}

/// Returns staging memory as the destination. It is used if the message of another receive may arrive in the
/// user's buffer meanwhile, or if that buffer is in parts.
transports::BufferView Receive::staging_place() {
  if (!buffer_.stage()) return buffer_.view();  // out of memory
  payload_ = Payload::going_to_staging;
  return buffer_.staging_view();
}

bool Receive::step_delivery() {
  if (delivery_ == nullptr) return true;  // it was refused
  if (!delivery_->advance()) return false;
  shown_.end();
  const bool has_come = delivery_->status().ok() && !delivery_->truncated();
  if (payload_ != Payload::going_to_staging || !has_come) return true;
  if (!stream_order_allows()) return false;
  payload_ = Payload::in_place;
  write(buffer_.staged(), delivery_->envelope().payload_bytes,
        buffer_.is_on_device() ? in_several_allocations : buffer_is_shared);
  return true;
}

void Receive::note_copy(HostDeviceCopy copy, bool crossed, const MPI_Status& status) const {
  if (communicator_ == nullptr || !NodeDirectory::gpu_seen()) return;
  note_destination(copy, crossed, world_rank_of(*communicator_, status.MPI_SOURCE), status.MPI_TAG);
}

void Receive::note_host_payload(std::uint64_t bytes, const MPI_Status& status) const {
  if (bytes >= transports::tuning().uploaded_from)
    note_copy(HostDeviceCopy::upload, buffer_.is_on_device(), status);
}

/// Records where a payload went that arrived through the MPI library.
void Receive::note_payload(std::uint64_t bytes, const MPI_Status& status) const {
  note_host_payload(bytes, status);
  // its sender may have expected it to end in host memory
  if (buffer_.is_on_device() && bytes <= policy::most_downloaded_bytes)
    note_copy(HostDeviceCopy::download, false, status);
}

bool Receive::has_come(bool may_ask) noexcept {
  return arrival_.has_value() || (may_ask && read_message(nullptr));
}

std::optional<transports::Upload> Receive::payload() {
  const std::uint64_t bytes = arrived_bytes_;
  const bool is_payload =
      arrival_ && !envelope_ && payload_ != Payload::in_place && !was_cancelled(*arrival_);
  if (!is_payload || bytes == 0 || bytes > buffer_.capacity_bytes() || !buffer_.may_be_written_now())
    return std::nullopt;
  if (!shown_.withdraw()) return std::nullopt;
  return transports::Upload{&buffer_.first_of_device(bytes), reinterpret_cast<const char*>(buffer_.staged())};
}

void Receive::uploaded(const Status& status) noexcept {
  status_ = status;
  payload_ = Payload::in_place;
}

/// Copies a payload that arrived through the MPI library to its destination.
void Receive::copy_to_destination(const void* bytes, std::uint64_t count, const MPI_Status& status) {
  note_payload(count, status);
  if (count > buffer_.capacity_bytes()) {
    payload_ = Payload::too_long;
    return;
  }
  if (is_enlisted()) upload_with_others();
  if (payload_ == Payload::in_place) return;
  if (buffer_.is_one_host_piece() && count <= envelope_bytes) {  // too small for a record of the copy
    static_cast<void>(may_write());                              // as in write()
    return buffer_.write_small(bytes, count);
  }
  const bool shares_the_buffer = !buffer_.is_on_device() && buffer_.is_staged();
  write(bytes, count, shares_the_buffer ? buffer_is_shared : "the payload came through the MPI library");
  payload_ = Payload::in_place;  // no other receive may upload it again
}

/// Copies from host memory to the destination. `reason` is a literal.
void Receive::write(const void* bytes, std::uint64_t count, const char* reason) {
  if (count == 0) return;
  static_cast<void>(may_write());  // either way: no other message is written before this returns
  transports::BufferView destination = buffer_.view();
  destination.layout = destination.layout.prefix(count);
  status_ = staged_copy(count, transports::BufferKind::pageable, destination.buffer.kind, reason,
                        [&] { return transports::upload(destination, bytes); });
}

}  // namespace penstock::interpose
