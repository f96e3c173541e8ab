#include "interpose/protocol/rendezvous_send.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/messages/list_packing.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/protocol/lingering_sends.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/stream_order/ready_flags.hpp"
#include "transports/transport.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

void say_why_not_pushed(const Status& failure) noexcept {
  record::notice(format_error(name_of(transports::TransportKind::pushed),
                              {Code::cuda_failed, failure.where(), failure.detail()})
                     .data());
}

}  // namespace

RendezvousSend::RendezvousSend(const SendCall& call, transports::BufferView source)
    : mode_(call.mode), errors_(ErrorTarget::of(call.communicator).kept()), source_(std::move(source)) {}

std::unique_ptr<RendezvousSend> RendezvousSend::open(const SendCall& call, transports::BufferView source,
                                                     int receiver_world_rank, DirectoryRow& receiver,
                                                     bool others_follow) {
  reap_lingering_sends();
  NodeDirectory& directory = node_directory();
  // first, as a slot that is taken while memory runs out would stay taken
  std::unique_ptr<RendezvousSend> send(new RendezvousSend(call, std::move(source)));
  std::uint32_t index = 0;
  {
    const RequestTable::Lock lock(request_table());
    send->slot_ = directory.take_slot(&index);
  }
  Slot* const slot = send->slot_;
  if (slot == nullptr) return nullptr;
  send->receiver_ = &receiver;
  send->others_follow_ = others_follow;
  slot->receiver = static_cast<std::uint32_t>(receiver_world_rank);

  slot->offer = transports::begin_offer(send->source_);
  send->envelope_.nonce = directory.nonce();
  send->envelope_.payload_bytes = slot->offer.payload_bytes;
  send->envelope_.key = directory.next_key();
  send->envelope_.row = directory.own_index();
  send->envelope_.slot = index;
  send->envelope_.generation = slot->generation();
  return send;
}

RendezvousSend::~RendezvousSend() {
  if (slot_ == nullptr) return;
  if (push_ != nullptr) {
    push_.reset();  // waits for the copy
    slot_->fail();
    end_write();
  }
  const RequestTable::Lock lock(request_table());
  if (is_over(*slot_)) {
    release();
    if (!is_retired_) node_directory().free_slot(slot_);
  } else {
    let_linger(slot_, std::move(staged_));
  }
}

void RendezvousSend::publish_offer(const SendCall& call) noexcept {
  const char* why_not = "";
  transports::complete_offer(source_, slot_->offer, &why_not);
  const bool has_handle = slot_->offer.ipc_exported != 0 || slot_->offer.contiguous == 0;
  if (source_.buffer.kind == transports::BufferKind::device && !has_handle) record::notice(why_not);
  if (slot_->offer.contiguous != 0 && slot_->offer.payload_bytes >= transports::tuning().packed_from)
    look_ = list_worth_a_look(call);
  slot_->offer.integers = look_.integers;
  offer(PayloadLocation::sender_buffer);
}

/// Publishes the offer, unless the receiver, which may have the envelope already, has given up.
void RendezvousSend::offer(PayloadLocation location) noexcept {
  slot_->location.store(location, std::memory_order_relaxed);
  static_cast<void>(slot_->move<Side::sender, SlotState::preparing, SlotState::offered>());
}

bool RendezvousSend::write_to(FoundReceive receive) {
  if (!receive.take()) return false;
  transports::Offer target = receive.target();
  target.payload_bytes = envelope_.payload_bytes;  // the receive may have more room
  const Status started = transports::start_push(source_, target, push_);
  say_what_was_refused();
  if (!started.ok()) {
    // only the driver's error is news
    if (started.detail() != 0) say_why_not_pushed(started);
    return false;
  }
  receive.name_in(envelope_);
  posted_ = std::move(receive);
  is_written_ = true;
  // the receiver, once it has the envelope, waits for `ready` only
  offer(PayloadLocation::receiver_buffer);
  return true;
}

/// The push has ended, successful or not.
void RendezvousSend::end_write() noexcept {
  if (!is_written_) return;
  if (!is_signalled_by_gpu_) slot_->ready.store(1, std::memory_order_release);
  posted_.end();
}

/// Waits for the copy: after a failure the receiver has its buffer back.
void RendezvousSend::drop_push() noexcept {
  push_.reset();
  posted_.end();
}

int RendezvousSend::post(const SendCall& call, MPI_Request* request) noexcept {
  receiver_->offers.fetch_add(1, std::memory_order_relaxed);
  const int code = pmpi_isend(call.mode, &envelope_, static_cast<MPI_Count>(envelope_bytes), MPI_BYTE,
                              call.destination, call.tag, call.communicator, request);
  // else the receiver would look for this envelope to the end of the job
  if (code != MPI_SUCCESS) receiver_->offers.fetch_sub(1, std::memory_order_relaxed);
  return code;
}

int RendezvousSend::send_envelope(const SendCall& call, MPI_Request* request) {
  const int code = post(call, request);
  if (is_written_) {
    // the receiver then needs no step of this rank
    is_signalled_by_gpu_ = push_->signal_at_end(&slot_->ready);
    if (code != MPI_SUCCESS) slot_->fail();
    return code;
  }
  // the envelope travels meanwhile, and the work below takes about as long
  publish_offer(call);
  if (code != MPI_SUCCESS) slot_->fail();
  if (others_follow_) {
    transports::signal_with_next(source_, &slot_->ready);
  } else {
    transports::signal_when_ready(source_, &slot_->ready);
  }
  return code;
}

bool RendezvousSend::receiver_is_late() noexcept {
  // read only at the start and after each timeout, as the receiver writes this counter with each message
  if (!deliveries_seen_) {
    deliveries_seen_ = receiver_->deliveries.load(std::memory_order_relaxed);
    // the wait does not start at the sending call: this rank may have posted a hundred more sends since, and
    // its receiver as many receives
    timeout_ =
        ReceiverTimeout(mode_ != SendMode::synchronous && mpi_would_buffer(), transports::steady_now_ns());
  }
  // the later of the two, as a call that completes something may not have progressed
  const std::uint64_t now_ns = std::max(request_table().round_ns(), transports::time_of_call_ns());
  if (!timeout_.is_over(now_ns, receiver_worked_ns_)) return false;
  const std::uint64_t deliveries = receiver_->deliveries.load(std::memory_order_relaxed);
  if (deliveries != std::exchange(deliveries_seen_, deliveries)) receiver_worked_ns_ = now_ns;
  return timeout_.is_over(now_ns, receiver_worked_ns_);
}

/// Returns true if the MPI library would have buffered the payload; such a sender must not wait.
bool RendezvousSend::mpi_would_buffer() const noexcept {
  return envelope_.payload_bytes <= transports::tuning().buffered_to;
}

Status RendezvousSend::stage(bool whole) {
  slot_->offer.bitmap_words = 0;
  return stage(source_, whole);
}

Status RendezvousSend::stage(const transports::BufferView& what, bool whole) {
  const auto staging = whole ? transports::Staging::host_whole : transports::Staging::host_ring;
  Status started = transports::StagedSend::start(what, staging, slot_->offer, staged_);
  say_what_was_refused();
  if (!started.ok()) return started;
  whole_ = whole;
  if (!whole) ring_.take();
  offer(PayloadLocation::region);
  return started;
}

/// Returns true while this send has to wait for other payloads' rings.
bool RendezvousSend::waits_for_a_ring() noexcept {
  return !mpi_would_buffer() && !ring_.may_take() && !receiver_is_late();
}

/// The receiver is done: other payloads may use the region, the turn and the ring.
void RendezvousSend::release() noexcept {
  drop_staged(staged_);
  turn_to_buffer_.end();
  ring_.end();
}

void RendezvousSend::buffer_payload() {
  // a payload that the MPI library would not have buffered may wait
  must_wait_ = !mpi_would_buffer() && !transports::may_buffer(envelope_.payload_bytes);
  // Large payloads are buffered one after the other: a receiver that arrives meanwhile fetches the others
  // from where they lie, several times faster than through host memory that would first have to be allocated
  // and pinned.
  if (must_wait_ || (!mpi_would_buffer() && !turn_to_buffer_.take())) return;
  const bool is_ours = slot_->move<Side::sender, SlotState::offered, SlotState::preparing>();
  if (is_ours && stage(true).ok()) return;
  turn_to_buffer_.end();
  if (!is_ours) return;  // the receiver has taken the offer
  // there is no room to buffer it: wait for the receiver instead
  must_wait_ = true;
  timeout_.never_expire();
  offer(PayloadLocation::sender_buffer);
}

Status RendezvousSend::relay() {
  const Status started =
      transports::StagedSend::start(source_, transports::Staging::device_ring, slot_->offer, staged_);
  if (started.ok()) {
    offer(PayloadLocation::region);
    return started;
  }
  if (started.code() != Code::declined) {
    record::notice(format_error(name_of(transports::TransportKind::relayed), started).data());
  } else if (!receiver_is_late()) {
    // retry when other payloads have released memory
    static_cast<void>(slot_->move<Side::sender, SlotState::preparing, SlotState::asked>());
    return {};
  }
  return stage(mpi_would_buffer());
}

Status RendezvousSend::push() {
  const Status started = transports::start_push(source_, slot_->target, push_);
  if (started.ok()) return started;
  // print a notice only for the driver's error, not for what is already known of the two devices
  if (started.detail() != 0) say_why_not_pushed(started);
  // the sender will not write to the receiver's buffer any more
  slot_->request.store(SlotRequest::stage, std::memory_order_release);
  return stage(mpi_would_buffer());
}

Status RendezvousSend::step_push() {
  Status status = push_->advance(produced_);
  if (produced_) {
    push_.reset();
    whole_ = true;
    if (is_written_) {
      end_write();
    } else {
      offer(PayloadLocation::receiver_buffer);
    }
  }
  if (!status.ok()) drop_push();
  return status;
}

Status RendezvousSend::pack() {
  pack_ = begin_packing(source_, look_.integers, look_.order);
  is_packing_ = pack_ != nullptr;
  return is_packing_ ? Status{} : stage(mpi_would_buffer());
}

/// Steps the packing. A list that cannot be a bitmap is staged unchanged.
Status RendezvousSend::step_pack() {
  bool ended = false;
  if (Status state = pack_->advance(ended); !state.ok() || !ended || waits_for_a_ring()) return state;
  is_packing_ = false;
  slot_->offer.bitmap_words = pack_->words();
  note_look(look_, pack_->words() != 0);
  if (pack_->words() != 0) return stage(pack_->bitmap(), mpi_would_buffer());
  pack_.reset();
  return stage(mpi_would_buffer());
}

void RendezvousSend::give_up(const Status& status) noexcept {
  status_ = status;
  transports::forget_signal(&slot_->ready);
  slot_->ready.store(1, std::memory_order_release);  // no signal will arrive any more
  slot_->failure.store({static_cast<std::uint32_t>(status.code()), status.detail()},
                       std::memory_order_relaxed);
  is_retired_ = slot_->fail() == SlotState::pulling;
}

/// Records that the application's work on the payload is done, before this rank copies it.
void RendezvousSend::note_ready() noexcept {
  if (!std::exchange(is_known_done_, true)) transports::note_done(source_);
}

void RendezvousSend::serve_receiver() {
  switch (slot_->get()) {
    case SlotState::offered:
      if (!is_in_own_buffer() || !receiver_is_late()) break;
      note_ready();
      buffer_payload();
      break;
    case SlotState::asked:
      note_ready();
      if (Status answered = answer(); !answered.ok()) give_up(answered);
      break;
    default:
      break;
  }
}

Status RendezvousSend::answer() {
  const SlotRequest request = slot_->request.load(std::memory_order_acquire);
  if (request == SlotRequest::stage && waits_for_a_ring()) return {};
  if (!slot_->move<Side::sender, SlotState::asked, SlotState::preparing>()) return {};
  if (request == SlotRequest::relay) return relay();
  if (request == SlotRequest::push) return push();
  if (request == SlotRequest::pack) return pack();
  drop_staged(staged_);  // a ring that the receiver could not map
  produced_ = false;
  return stage(mpi_would_buffer());
}

bool RendezvousSend::is_in_own_buffer() const noexcept {
  return slot_->location.load(std::memory_order_relaxed) == PayloadLocation::sender_buffer;
}

bool RendezvousSend::advance(bool arrived, const MPI_Status& status) {
  if (arrived && !std::exchange(has_left_, true) && was_cancelled(status)) {
    slot_->fail();
    if (staged_ != nullptr) staged_->abandon();
    return true;
  }
  const bool ready = slot_->ready.load(std::memory_order_acquire) != 0;
  if (ready) {
    serve_receiver();
  } else if (slot_->get() != SlotState::failed && watch_.is_due()) {
    if (Status health = transports::health_of(source_); !health.ok()) {
      drop_push();
      give_up(health);
    }
  }
  if (is_packing_ && status_.ok()) {
    if (Status step = step_pack(); !step.ok()) give_up(step);
  }
  if (staged_ != nullptr && !produced_ && status_.ok()) {
    if (Status step = staged_->advance(produced_); !step.ok()) give_up(step);
    if (produced_ || !status_.ok()) turn_to_buffer_.end();
  }
  if (push_ != nullptr && status_.ok()) {
    if (Status step = step_push(); !step.ok()) give_up(step);
  }
  const bool over = is_over(*slot_);
  if (over) {
    record.matched();
    release();
  }
  // while a copy reads the buffer, it is not the application's again, whatever the receiver has done
  if (push_ != nullptr) return false;
  return arrived && (over || (produced_ && whole_ && !is_only_probed()));
}

/// Returns true if only a probe has received a synchronous send's envelope. Such a send must not complete
/// until a receive is matched with it.
bool RendezvousSend::is_only_probed() const noexcept {
  return mode_ == SendMode::synchronous && (receiver_->openings.load(std::memory_order_acquire) != 0 ||
                                            slot_->stashed.load(std::memory_order_acquire) != 0);
}

Pending::Progress RendezvousSend::progress() const {
  if ((produced_ && whole_) || is_over(*slot_)) return Progress::none;
  const bool is_offered = slot_->get() == SlotState::offered && is_in_own_buffer();
  return must_wait_ && is_offered ? Progress::open_ended : Progress::always;
}

int RendezvousSend::complete(MPI_Status& status, int code) {
  record.complete(status);
  if (code == MPI_SUCCESS && !status_.ok()) return errors_.raise_status("MPI_Send", status_);
  return code;
}

}  // namespace penstock::interpose
