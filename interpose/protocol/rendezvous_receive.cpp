#include "interpose/protocol/rendezvous_receive.hpp"

#include <new>
#include <thread>
#include <utility>

#include "interpose/calls/errors.hpp"
#include "interpose/messages/list_packing.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/process.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

using transports::Choice;
using transports::TransportKind;
using transports::TransportSet;

namespace {

std::atomic<unsigned> small_in_flight{0};

/// Its address identifies the thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local char this_thread = 0;
std::atomic<const char*> thread_of_small_ones{nullptr};

}  // namespace

RendezvousReceive::RendezvousReceive(const Envelope& envelope, transports::BufferView destination,
                                     std::size_t capacity)
    : Delivery(envelope, std::move(destination)), slot_(node_directory().find(envelope)) {
  if (is_written()) {
    transport_ = TransportKind::pushed;
    reason_ = "the receive was posted: its sender's GPU wrote to it";
    start_ns_ = begin_ns_;
  }
  if (slot_ == nullptr) {
    static_cast<void>(end({Code::peer_lost, "the message's slot in shared memory is not open"}));
    return;
  }
  source_kind_ = slot_->offer.kind;
  if (envelope.payload_bytes > capacity) {
    truncated_ = true;
    // if the sender is busy with the slot, it must finish first
    over_ = move<SlotState::offered, SlotState::failed>();
    return;
  }
  if (envelope.payload_bytes < destination_.layout.bytes())
    destination_.layout = destination_.layout.prefix(envelope.payload_bytes);
}

RendezvousReceive::~RendezvousReceive() {
  drop_pull();
  if (!over_ && slot_ != nullptr) {
    await_push();
    slot_->fail(envelope_.generation);
  }
}

bool RendezvousReceive::advance() {
  if (over_) return true;
  const SlotState seen = state();
  // a sender that failed may have given the slot to another message
  if (seen == SlotState::free)
    return end({Code::peer_lost, "the sender closed the message's slot in shared memory"});
  if (pull_ != nullptr) return step_pull();
  if (is_unpacking_) return step_unpack();
  switch (seen) {
    case SlotState::offered:
      return take_offer();
    case SlotState::preparing:
    case SlotState::asked:
      return look_after_sender();
    default:
      return end(failure_of_sender());
  }
}

/// Returns the failure that the sender recorded in the slot.
Status RendezvousReceive::failure_of_sender() const noexcept {
  const SenderFailure failure = slot_->failure.load(std::memory_order_relaxed);
  switch (const auto code = static_cast<Code>(failure.code)) {
    case Code::out_of_memory:
    case Code::cuda_failed:
    case Code::system_failed:
    case Code::bad_argument:
      return {code, "its sender", failure.detail};
    default:
      return {Code::peer_lost, "the sender closed the message's slot in shared memory"};
  }
}

/// Takes the offer. Nothing of an offer is read earlier: until then the sender may decide to buffer.
bool RendezvousReceive::take_offer() {
  if (truncated_) return over_ = move<SlotState::offered, SlotState::failed>();
  if (slot_->ready.load(std::memory_order_acquire) == 0) return is_written() && look_after_sender();
  const auto location = [this] { return slot_->location.load(std::memory_order_relaxed); };
  // The sender of a small payload must not have to wait for this rank's next call: such a pull starts only if
  // it can end within this call.
  const bool in_one_call = location() == PayloadLocation::sender_buffer && mpi_would_buffer();
  if (in_one_call && !transports::is_idle(destination_)) return false;
  if (!move<SlotState::offered, SlotState::pulling>()) return false;
  switch (location()) {
    case PayloadLocation::sender_buffer:
      return fetch_from_buffer();
    case PayloadLocation::region:
      return fetch_from_region();
    case PayloadLocation::receiver_buffer:
      break;
  }
  return end({});
}

bool RendezvousReceive::fetch_from_buffer() {
  const transports::Payload payload(slot_->offer, destination_);
  const Choice choice = choose(payload, excluded_);
  reason_ = choice.reason;
  if (choice.transport == nullptr) {
    // the sender of a small payload must not have to wait for this rank's next call while it relays; a push
    // needs nothing more of this rank
    const bool is_wanted = !mpi_would_buffer() || choice.wanted == TransportKind::pushed ||
                           settings().transport == choice.wanted;
    ask_sender(is_wanted ? choice.wanted : TransportKind::staged, payload);
    return false;
  }
  if (start(payload, *choice.transport)) return true;
  if (mpi_would_buffer() && pull_ != nullptr) {
    is_small_in_flight_ = true;
    thread_of_small_ones.store(&this_thread, std::memory_order_relaxed);
    small_in_flight.fetch_add(1, std::memory_order_relaxed);
  }
  return false;
}

bool RendezvousReceive::mpi_would_buffer() const noexcept {
  return envelope_.payload_bytes <= transports::tuning().buffered_to;
}

void RendezvousReceive::ask_sender(TransportKind transport, const transports::Payload& payload) {
  switch (transport) {
    case TransportKind::pushed:
      return ask_to_push();
    case TransportKind::relayed:
      return ask(SlotRequest::relay);
    default:
      return ask(take_room_for_bitmap(payload) ? SlotRequest::pack : SlotRequest::stage);
  }
}

/// Reserves room for a bitmap if the payload is worth packing. Returns true if it did.
bool RendezvousReceive::take_room_for_bitmap(const transports::Payload& payload) {
  const transports::Integer integers = payload.offer.integers;
  // kernels of two processes on one GPU run in turns, which takes longer than the copies
  const bool takes_turns =
      payload.link() == transports::cuda::Link::same_device && settings().transport != TransportKind::staged;
  if (integers == transports::Integer::none || takes_turns) return false;
  unpack_ = room_for_bitmap(destination_, integers);
  return unpack_ != nullptr;
}

void RendezvousReceive::ask(SlotRequest request) noexcept {
  slot_->request.store(request, std::memory_order_relaxed);
  move<SlotState::pulling, SlotState::asked>();
}

void RendezvousReceive::hand_back() noexcept {
  move<SlotState::pulling, SlotState::offered>();
}

/// Requests a push once the application no longer uses the buffer, as the sender's GPU cannot wait for that.
void RendezvousReceive::ask_to_push() {
  if (!transports::is_idle(destination_)) return hand_back();
  const char* why_not = "";
  slot_->target = make_offer(destination_, &why_not);
  start_ns_ = record::is_on() ? record::now_ns() : 0;
  transport_ = TransportKind::pushed;
  ask(SlotRequest::push);
}

/// Waits for the sender's move. Ends the delivery only if the sender is gone.
bool RendezvousReceive::look_after_sender() {
  return sender_is_gone() && end({Code::peer_lost, "the sender"});
}

/// Checks at intervals whether the sender's process is gone.
bool RendezvousReceive::sender_is_gone() noexcept {
  return watch_.is_due() && !transports::is_alive({slot_->offer.process_id, slot_->offer.process_nonce});
}

/// Ends a possible push into a buffer that a failed receive gives back: the sender must not write to it
/// afterwards. The wait lasts until the sender reports the end of its GPU's copy, or until the sender, and
/// its GPU's work with it, is gone. Only failing receives call this.
void RendezvousReceive::await_push() noexcept {
  if (move<SlotState::asked, SlotState::failed>()) return;
  const auto may_be_written = [this] {
    if (is_written())
      return state() == SlotState::offered && slot_->ready.load(std::memory_order_acquire) == 0;
    return state() == SlotState::preparing &&
           slot_->request.load(std::memory_order_acquire) == SlotRequest::push;
  };
  while (may_be_written() && !sender_is_gone()) std::this_thread::yield();
}

const std::atomic<unsigned>& RendezvousReceive::small_ones_in_flight() noexcept {
  return small_in_flight;
}

bool RendezvousReceive::small_ones_are_own() noexcept {
  return thread_of_small_ones.load(std::memory_order_relaxed) == &this_thread;
}

void RendezvousReceive::drop_pull() noexcept {
  pull_.reset();
  if (std::exchange(is_small_in_flight_, false)) small_in_flight.fetch_sub(1, std::memory_order_relaxed);
}

bool RendezvousReceive::step_pull() {
  bool finished = false;
  Status status = pull_->advance(finished);
  if (!finished && status.ok()) {
    if (DirectoryRow* own = mpi_would_buffer() ? nullptr : node_directory().own_row()) own->note_delivery();
    return false;
  }
  if (!status.ok() || bitmap_bytes_ == 0) return end(status);
  drop_pull();
  status = unpack_->start();
  is_unpacking_ = status.ok();
  return !status.ok() && end(status);
}

bool RendezvousReceive::step_unpack() {
  bool ended = false;
  const Status status = unpack_->advance(ended);
  return (ended || !status.ok()) && end(status);
}

bool RendezvousReceive::fetch_from_region() {
  // the sender may already have reused its buffer: from here only the region may be read
  const transports::Offer offer = slot_->offer;
  bitmap_bytes_ = 0;
  if (offer.bitmap_words != 0) return fetch_bitmap(offer);
  unpack_.reset();
  return fetch_from_region(transports::Payload(offer, destination_));
}

bool RendezvousReceive::fetch_bitmap(transports::Offer offer) {
  const transports::BufferView* const room = unpack_ == nullptr ? nullptr : unpack_->room(offer.bitmap_words);
  if (room == nullptr) return end({Code::peer_lost, "sender's bitmap of a list"});
  bitmap_bytes_ = offer.payload_bytes = room->layout.bytes();
  return fetch_from_region(transports::Payload(offer, *room));
}

bool RendezvousReceive::fetch_from_region(const transports::Payload& payload) {
  const Choice choice =
      choose(payload, excluded_ | TransportSet::all_but({TransportKind::staged, TransportKind::relayed}));
  if (choice.transport == nullptr) {
    if (choice.wanted != TransportKind::staged) return end({Code::declined, choice.reason});
    ask(SlotRequest::stage);
    return false;
  }
  if (transport_ == TransportKind::pushed) reason_ = "the sender could not map the receiver's memory";
  // an earlier reason names why the buffer itself could not be read; without one, the sender buffered the
  // payload
  if (*reason_ == '\0') reason_ = "receiver was late";
  return start(payload, *choice.transport);
}

/// Starts the pull. If the transport declines before any byte moved, the slot's new state says what is tried
/// next.
bool RendezvousReceive::start(const transports::Payload& payload, transports::Transport& transport) {
  transport_ = transport.kind();
  start_ns_ = record::is_on() ? record::now_ns() : 0;
  const Status status = transport.start(payload, pull_);
  say_what_was_refused();
  if (status.ok()) return false;
  if (status.code() != Code::declined) return end(status);
  record::notice(format_error(name_of(transport_), {status.detail() == 0 ? Code::declined : Code::cuda_failed,
                                                    status.where(), status.detail()})
                     .data());
  excluded_.add(transport_);
  if (slot_->location.load(std::memory_order_relaxed) == PayloadLocation::region) {
    ask(SlotRequest::stage);
  } else {
    reason_ = "";  // the sender may buffer the payload before the next choice
    hand_back();
  }
  return false;
}

bool RendezvousReceive::end(const Status& status) {
  status_ = status;
  drop_pull();
  if (slot_ != nullptr) {
    const bool is_done = status.ok() && move<SlotState::pulling, SlotState::done>();
    if (!is_done) slot_->fail(envelope_.generation);
  }
  if (DirectoryRow* own = node_directory().own_row()) own->note_delivery();
  over_ = true;
  report();
  say_what_was_refused();
  return true;
}

void finish_small_pulls() noexcept try {
  // below MPI_THREAD_MULTIPLE nothing is locked, but any thread may call MPI_Initialized and a few others
  if (!request_table().is_threaded() && !RendezvousReceive::small_ones_are_own()) return;
  const std::uint64_t begin_ns = record::now_ns();
  while (RendezvousReceive::small_ones_in_flight().load(std::memory_order_relaxed) != 0 &&
         record::now_ns() - begin_ns < policy::finish_small_pulls_ns) {
    progress();
  }
} catch (const std::bad_alloc&) {
  // the next call continues them
}

}  // namespace penstock::interpose
