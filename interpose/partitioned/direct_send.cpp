#include "interpose/partitioned/direct_send.hpp"

#include <utility>

#include "transports/host/in_call.hpp"
#include "transports/host/process.hpp"
#include "transports/stream_order/ready_flags.hpp"

namespace penstock::interpose {

DirectSend::DirectSend(const MessageName& name, const DirectoryRow& receiver,
                       const transports::BufferView& buffer, const ReadyWords& words) noexcept
    : name_(name), receiver_(receiver), receiver_process_(receiver.process) {
  const transports::Offer offer = transports::make_offer(buffer, &why_not_);
  if (offer.ipc_exported != 0 || receiver_process_ == transports::this_process()) {
    note_ = show_buffer(name, offer, static_cast<std::uint32_t>(words.words().size()), words.first());
    why_not_ = note_.note != nullptr ? "" : "too many partitioned messages are shown already";
  }
  if (note_.note == nullptr) show_that_library_moves(name);
}

DirectSend::~DirectSend() {
  free_note(note_);
}

Mover DirectSend::mover() noexcept {
  if (note_.note == nullptr) return Mover::library;
  if (note_.now() == NoteState::open && find_note(receiver_, name_, note_.note).state == NoteState::library) {
    // false if the receiver has decided meanwhile
    static_cast<void>(
        note_.note->state.move<NoteSide::owner, NoteState::open, NoteState::library>(note_.use));
  }
  switch (note_.now()) {
    case NoteState::direct:
      return Mover::receiver;
    case NoteState::open:
      return Mover::undecided;
    default:
      return Mover::library;
  }
}

void DirectSend::begin(std::uint64_t key) noexcept {
  ++begun_;
  if (note_.note != nullptr) show_operation(note_, begun_, key);
}

bool DirectSend::is_over(Status& status) noexcept {
  if (note_.note->done.load(std::memory_order_acquire) == begun_) return true;
  if (!watch_.is_due() || transports::is_alive(receiver_process_)) return false;
  status = {Code::peer_lost, "the receiver"};
  return true;
}

void signal_partitions(const transports::Buffer& buffer, std::span<const int> partitions,
                       std::span<std::atomic<std::uint32_t>> words) noexcept {
  const transports::BufferView view{.buffer = buffer, .handed_over_ns = transports::time_of_call_ns()};
  if (partitions.size() == 1) {
    transports::signal_when_ready(view, &words[static_cast<std::size_t>(partitions.front())]);
    return;
  }
  for (const int partition : partitions)
    transports::signal_with_next(view, &words[static_cast<std::size_t>(partition)]);
  transports::settle_signals();
}

}  // namespace penstock::interpose
