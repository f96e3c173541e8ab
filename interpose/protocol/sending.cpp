#include "interpose/protocol/sending.hpp"

#include <memory>
#include <new>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/calls/transfer_record.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/messages/message_record.hpp"
#include "interpose/messages/staging_buffers.hpp"
#include "interpose/network/chunk_channel.hpp"
#include "interpose/network/network_send.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/posted/found_receive.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/protocol/destination_forecast.hpp"
#include "interpose/protocol/rendezvous_send.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

using transports::BufferKind;
using transports::TransportKind;

/// A send of a payload's copy by an envelope. Keeps the copy until the send is over.
class SendOfCopy final : public Pending {
 public:
  SendOfCopy(StagingBuffer copy, std::unique_ptr<Pending> send)
      : copy_(std::move(copy)), send_(std::move(send)) {}
  bool advance(bool arrived, const MPI_Status& status) override { return send_->advance(arrived, status); }
  void fix_status(MPI_Status& status) const override { send_->fix_status(status); }
  int complete(MPI_Status& status, int code) override { return send_->complete(status, code); }
  [[nodiscard]] Progress progress() const override { return send_->progress(); }
  void leaving() override { send_->leaving(); }

 private:
  StagingBuffer copy_;  ///< destroyed last
  std::unique_ptr<Pending> send_;
};

/// A send that the MPI library does alone. Keeps the payload's copy, if there is one, until the send is over.
class PlainSend final : public Pending {
 public:
  PlainSend(StagingBuffer copy, const MessageRecord& record) : copy_(std::move(copy)), record_(record) {}
  bool advance(bool arrived, const MPI_Status& /*status*/) override { return arrived; }
  int complete(MPI_Status& status, int code) override {
    record_.complete(status);
    return code;
  }

 private:
  StagingBuffer copy_;
  MessageRecord record_;
};

/// Returns true if a payload of an envelope's size begins like one of this job. It must not travel as itself.
bool looks_like_envelope(const void* bytes) {
  Envelope envelope;
  return read_envelope(bytes, node_directory().nonce(), &envelope);
}
/// The same for a payload in host memory. Not by MPI_Pack, as MPICH's refuses MPI_BOTTOM.
bool looks_like_envelope(const SendCall& call) {
  std::byte bytes[envelope_bytes];
  return transports::download(bytes, view_of(call.buffer, call.count, call.datatype)).ok() &&
         looks_like_envelope(bytes);
}

/// Returns true if a host payload is large enough to be worth an envelope if it ends on a device.
bool may_be_uploaded(const SendCall& call, std::uint64_t bytes) noexcept {
  const bool is_forced = settings().transport == TransportKind::pushed;
  return bytes >= (is_forced ? envelope_bytes + 1 : transports::tuning().uploaded_from) &&
         call.mode != SendMode::buffered;
}

/// Determines the receiver. There is no neighbour if payloads cross the network or the receiver has no
/// Penstock.
void find_receiver(const SendCall& call, SendPlan& plan) {
  plan.receiver = world_rank_of(call.communicator, call.destination);
  if (settings().transport != TransportKind::network) plan.neighbour = node_directory().row_of(plan.receiver);
}

/// Returns true if a payload in host memory goes by an envelope. Sets the plan's receiver if it had to be
/// determined.
bool needs_envelope(const SendCall& call, SendPlan& plan) {
  if (!NodeDirectory::gpu_seen()) return false;
  const std::uint64_t bytes = payload_bytes(call.count, call.datatype);
  // a probe would receive a synchronous message of this size too early if envelopes were also on their way
  if (bytes == envelope_bytes) {
    if (call.mode != SendMode::synchronous && !looks_like_envelope(call)) return false;
    find_receiver(call, plan);
    return true;
  }
  if (!may_be_uploaded(call, bytes)) return false;
  find_receiver(call, plan);
  if (plan.neighbour == nullptr) return false;
  return settings().transport == TransportKind::pushed ||
         expects(HostDeviceCopy::upload, *plan.neighbour, call.tag);
}

/// Returns true if CUDA IPC cannot export the memory. Managed memory is left to the copy engine all the same,
/// as the MPI library is no faster.
bool is_out_of_reach(const SendPlan& plan) noexcept {
  const BufferKind kind = plan.source->buffer.kind;
  return (kind == BufferKind::async_pool || kind == BufferKind::virtual_memory) &&
         plan.neighbour != node_directory().own_row();
}

/// Returns why a device payload is faster through the MPI library in a blocking call (a literal): it is
/// small, and it ends in host memory or has no shorter way. Null: it is not faster.
const char* why_through_mpi(const SendCall& call, const SendPlan& plan) {
  const std::size_t bytes = plan.source->layout.bytes();
  if (bytes > policy::most_downloaded_bytes) return nullptr;
  if (bytes == envelope_bytes && call.mode == SendMode::synchronous) return nullptr;  // see needs_envelope()
  if (plan.neighbour == nullptr || settings().transport != TransportKind::none) return nullptr;
  if (expects(HostDeviceCopy::download, *plan.neighbour, call.tag))
    return "small, and expected to be received in host memory";
  return is_out_of_reach(plan) ? "small, and CUDA IPC cannot export its memory" : nullptr;
}

/// Attaches the record, and the payload's copy if there is one, to a posted send of the MPI library, unless
/// it is already complete.
void tail(Operation& operation, StagingBuffer copy, MessageRecord record) {
  int complete = 0;
  const QuietErrors quiet;
  PMPI_Request_get_status(operation.request, &complete, MPI_STATUS_IGNORE);
  if (complete != 0) {
    record.complete();
  } else {
    operation.pending = std::make_unique<PlainSend>(std::move(copy), record);
  }
}

/// Copies a payload that will go through the MPI library to host memory. Returns MPI_SUCCESS, or the code of
/// the error that was raised.
int stage_payload(const SendCall& call, const transports::BufferView& source, const char* reason,
                  StagingBuffer& copy) {
  const std::size_t bytes = source.layout.bytes();
  copy = StagingBuffer(bytes);
  if (copy.data() == nullptr) {
    return raise_status(call.communicator, "MPI_Send", {Code::out_of_memory, "staging memory"});
  }
  const Status status = staged_copy(bytes, source.buffer.kind, BufferKind::pageable, reason,
                                    [&] { return transports::download(copy.data(), source); });
  return status.ok() ? MPI_SUCCESS : raise_status(call.communicator, "MPI_Send", status);
}

/// Sends the copy that stage_payload() made.
int post_staged(const SendCall& call, StagingBuffer copy, std::size_t bytes, const MessageRecord& record,
                PostingTurn& turn, Operation& operation) {
  turn.begin();
  const int code = pmpi_isend(call.mode, copy.data(), static_cast<MPI_Count>(bytes), MPI_BYTE,
                              call.destination, call.tag, call.communicator, &operation.request);
  if (code == MPI_SUCCESS) tail(operation, std::move(copy), record);
  return code;
}

/// Sends a device payload through the MPI library if that is faster in a blocking call. Returns false if it
/// has to go by an envelope.
bool post_small(const SendCall& call, const SendPlan& plan, const MessageRecord& record, PostingTurn& turn,
                Operation& operation, int& code) {
  const char* why = why_through_mpi(call, plan);
  // the download waits in place, so the application must have no work left on the GPU
  if (why == nullptr || !transports::is_idle(*plan.source)) return false;
  const std::size_t bytes = plan.source->layout.bytes();
  StagingBuffer copy;
  code = stage_payload(call, *plan.source, why, copy);
  if (code != MPI_SUCCESS) return true;
  if (bytes == envelope_bytes && looks_like_envelope(copy.data())) return false;
  code = post_staged(call, std::move(copy), bytes, record, turn, operation);
  return true;
}

/// Returns why a payload for another node has to go through the MPI library as it is, or null if it need not.
const char* why_not_in_chunks(int receiver, std::size_t bytes) {
  const TransportKind forced = settings().transport;
  if (!channel().reaches(receiver))
    return "the receiver is not on this node, or without Penstock (see penstock run --everywhere)";
  if (forced == TransportKind::network) return nullptr;
  if (forced != TransportKind::none) return "the forced transport works within a node only";
  // a payload of an envelope's own size always goes by one, as it might look like one
  const bool is_below_chunking = bytes < transports::tuning().network_from && bytes != envelope_bytes;
  return is_below_chunking ? "to another node, and too small to be sent in chunks" : nullptr;
}

/// Returns true if a payload smaller than an envelope goes by one nevertheless. In a row of such sends an
/// envelope occupies the sender for less time than a download. A blocking call would wait for the download in
/// any case, and a receiver with a host buffer would have to download the payload itself.
bool is_worth_an_envelope(const SendCall& call, const SendPlan& plan, bool blocking) noexcept {
  return !blocking && plan.neighbour != nullptr && !is_out_of_reach(plan) &&
         plan.neighbour->accepts_small.load(std::memory_order_acquire) &&
         !expects(HostDeviceCopy::download, *plan.neighbour, call.tag);
}

/// Returns null if the payload goes by an envelope, otherwise why it has to go through the MPI library (a
/// literal).
const char* why_no_envelope(const SendCall& call, const SendPlan& plan, bool blocking) {
  const std::size_t bytes = plan.source->layout.bytes();
  if (call.mode == SendMode::buffered) return "a buffered send (MPI_Bsend) is copied to host memory";
  if (plan.on_device && bytes < envelope_bytes && !is_worth_an_envelope(call, plan, blocking))
    return "eager: smaller than 64 bytes";
  if (plan.neighbour == nullptr) return why_not_in_chunks(plan.receiver, bytes);
  // a payload of an envelope's own size always goes by one, as it might look like one
  if (plan.neighbour->accepts_envelopes.load(std::memory_order_acquire) || bytes == envelope_bytes)
    return nullptr;
  return "first messages of a job: the receiver is not prepared for GPU buffers yet";
}

/// Returns false if too many sends are pending.
template <typename Send>
bool post_envelope(const SendCall& call, std::unique_ptr<Send> send, const MessageRecord& record,
                   Operation& operation, int& code) {
  if (send == nullptr) return false;
  send->record = record;
  send->record.set_key(send->key());
  code = send->send_envelope(call, &operation.request);
  if (code == MPI_SUCCESS) operation.pending = std::move(send);
  return true;
}

bool post_envelope(const SendCall& call, const SendPlan& plan, const transports::BufferView& source,
                   const MessageRecord& record, Operation& operation, int& code) {
  if (plan.neighbour == nullptr)
    return post_envelope(call, NetworkSend::open(call, source, plan.receiver), record, operation, code);
  return post_envelope(call,
                       RendezvousSend::open(call, source, plan.receiver, *plan.neighbour, plan.others_follow),
                       record, operation, code);
}

/// Returns the receive that the message will meet, if it is posted already and the payload can be written to
/// it at once.
FoundReceive find_posted(const SendPlan& plan, const PostingTurn& turn) noexcept {
  const transports::BufferView& source = *plan.source;
  const bool suits = turn.name() && plan.on_device && plan.neighbour != nullptr &&
                     plan.neighbour != node_directory().own_row() &&
                     source.buffer.kind != BufferKind::managed && source.layout.is_contiguous() &&
                     source.layout.bytes() >= transports::tuning().posted_from &&
                     settings().transport == TransportKind::none;
  return suits ? FoundReceive(*turn.name(), *plan.neighbour, source.layout.bytes()) : FoundReceive();
}

/// Sends a payload that is written to a posted receive. Returns false if it has to go another way.
bool post_written(const SendCall& call, const SendPlan& plan, FoundReceive receive, PostingTurn& turn,
                  const MessageRecord& record, Operation& operation, int& code) {
  auto send = RendezvousSend::open(call, *plan.source, plan.receiver, *plan.neighbour, plan.others_follow);
  if (send == nullptr) return false;
  if (send->write_to(std::move(receive))) turn.note_written();
  return post_envelope(call, std::move(send), record, operation, code);
}

/// Sends a payload that lies in several allocations, which no transport accepts, as a copy in host memory.
int post_scattered(const SendCall& call, const SendPlan& plan, const MessageRecord& record, PostingTurn& turn,
                   Operation& operation) {
  const std::size_t bytes = plan.source->layout.bytes();
  StagingBuffer copy;
  int code = stage_payload(call, *plan.source, "the payload's bytes lie in several allocations", copy);
  if (code != MPI_SUCCESS) return code;
  // see needs_envelope()
  const bool needs_one = bytes == envelope_bytes && call.mode != SendMode::buffered &&
                         (call.mode == SendMode::synchronous || looks_like_envelope(copy.data()));
  const transports::BufferView source{.buffer = transports::inspect(copy.data()),
                                      .layout = transports::Layout::contiguous(bytes)};
  turn.begin();
  if (!needs_one || !post_envelope(call, plan, source, record, operation, code))
    return post_staged(call, std::move(copy), bytes, record, turn, operation);
  if (code == MPI_SUCCESS)
    operation.pending = std::make_unique<SendOfCopy>(std::move(copy), std::move(operation.pending));
  return code;
}

/// Posts a send, in its turn.
int post_in_turn(const SendCall& call, const SendPlan& plan, const CallScope& scope, bool blocking,
                 PostingTurn& turn, Operation& operation) {
  MessageRecord record;
  if (plan.is_plain()) {
    turn.begin();
    const int code = pmpi_isend(call.mode, call.buffer, call.count, call.datatype, call.destination, call.tag,
                                call.communicator, &operation.request);
    if (code != MPI_SUCCESS) return code;
    if (scope.recording()) {
      record.begin(scope, trace::Direction::send, call.communicator, call.destination, call.tag,
                   payload_bytes(call.count, call.datatype), BufferKind::pageable, blocking);
    }
    if (scope.recording() || (turn.name() && !blocking)) tail(operation, {}, record);
    return code;
  }

  const transports::BufferView& source = *plan.source;
  if (source.buffer.kind == BufferKind::unknown)
    return ErrorTarget::of(call.communicator).raise_freed("MPI_Send");
  if (plan.on_device) note_gpu_use();
  const std::size_t bytes = source.layout.bytes();
  record.begin(scope, trace::Direction::send, call.communicator, call.destination, call.tag, bytes,
               source.buffer.kind, blocking);

  if (source.is_scattered()) return post_scattered(call, plan, record, turn, operation);
  const char* why_staged = why_no_envelope(call, plan, blocking);
  if (why_staged == nullptr) {
    int code = MPI_SUCCESS;
    turn.begin();
    if (FoundReceive posted = find_posted(plan, turn); posted.is_found()) {
      if (post_written(call, plan, std::move(posted), turn, record, operation, code)) return code;
    } else if (plan.on_device && blocking && post_small(call, plan, record, turn, operation, code)) {
      return code;
    }
    if (post_envelope(call, plan, source, record, operation, code)) return code;
    why_staged = "too many messages are in flight";
  }
  StagingBuffer copy;
  if (const int code = stage_payload(call, source, why_staged, copy); code != MPI_SUCCESS) return code;
  return post_staged(call, std::move(copy), bytes, record, turn, operation);
}

}  // namespace

SendPlan plan_send(const SendCall& call) {
  SendPlan plan;
  if (call.destination == MPI_PROC_NULL || call.count <= 0) return plan;
  plan.on_device = touches_device(call.buffer, call.count, call.datatype);
  if (!settings().move) return plan;
  if (plan.on_device) {
    find_receiver(call, plan);
  } else if (!needs_envelope(call, plan)) {
    return plan;
  }
  plan.source = view_of(call.buffer, call.count, call.datatype);
  plan.source->handed_over_ns = transports::time_of_call_ns();
  const std::size_t bytes = plan.source->layout.bytes();
  const bool is_in_parts =
      !plan.on_device && call.buffer == MPI_BOTTOM && !transports::is_of_one_host_kind(*plan.source);
  // An empty message reads nothing, and its receive need not have room for an envelope. GPUs do not fetch
  // from partly pinned host memory.
  if (bytes == 0 || (is_in_parts && bytes != envelope_bytes)) {
    plan.source.reset();
    plan.receiver = -1;
    plan.neighbour = nullptr;
  }
  return plan;
}

bool is_always_plain(const SendCall& call) {
  // the payload is not written yet: one of an envelope's size may later look like an envelope
  const std::uint64_t bytes = payload_bytes(call.count, call.datatype);
  const bool may_change =
      bytes == envelope_bytes || (NodeDirectory::gpu_seen() && may_be_uploaded(call, bytes));
  return !may_change && plan_send(call).is_plain();
}

int post_send(const SendCall& call, const SendPlan& plan, const CallScope& scope, bool blocking,
              Operation& operation) {
  PostingTurn turn(MessageHalf::send, call.communicator, call.destination, call.tag);
  const int code = post_in_turn(call, plan, scope, blocking, turn, operation);
  turn.posted(code);
  const bool may_be_cancelled = !blocking && turn.name() && operation.pending != nullptr;
  if (code == MPI_SUCCESS && may_be_cancelled) {
    operation.pending =
        cancellable_send(std::move(operation.pending), turn.communicator(), call.destination, *turn.name());
  }
  return code;
}

}  // namespace penstock::interpose
