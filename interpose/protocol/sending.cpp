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
#include "interpose/network/network_send.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/posted/found_receive.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/posted/shown_receive.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/protocol/rendezvous_send.hpp"
#include "interpose/protocol/send_plan.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
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

/// A GPU's copies both ways come one after the other (posted/README.md). Where this rank receives, too, and
/// its message may have been sent already, it does better to read that while the other rank reads this one.
/// Unless it computes: nobody reads then.
bool would_copy_both_ways(bool blocking) {
  return (blocking || !computes_before_it_waits()) && has_to_read();
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

/// Sends a payload by an envelope. Returns false if too many sends are pending.
bool post_announced(const SendCall& call, const SendPlan& plan, const MessageRecord& record,
                    PostingTurn& turn, bool blocking, Operation& operation, int& code) {
  turn.begin();
  FoundReceive posted = find_posted(plan, turn);
  if (posted.is_found() && !would_copy_both_ways(blocking) &&
      post_written(call, plan, std::move(posted), turn, record, operation, code)) {
    return true;
  }
  return post_envelope(call, plan, *plan.source, record, operation, code);
}

/// Sends a copy in host memory through the MPI library.
int post_eager(const SendCall& call, const SendPlan& plan, const SendChoice& choice,
               const MessageRecord& record, PostingTurn& turn, bool blocking, Operation& operation) {
  const std::size_t bytes = plan.source->layout.bytes();
  StagingBuffer copy;
  int code = stage_payload(call, *plan.source, choice.why, copy);
  if (code != MPI_SUCCESS) return code;
  const bool needs_envelope = choice.is_for_speed && !may_travel_as_itself(call, bytes, copy.data());
  if (needs_envelope && post_announced(call, plan, record, turn, blocking, operation, code)) return code;
  return post_staged(call, std::move(copy), bytes, record, turn, operation);
}

/// Sends a copy in host memory as a payload in host memory is sent.
int post_copied(const SendCall& call, const SendPlan& plan, const SendChoice& choice,
                const MessageRecord& record, PostingTurn& turn, Operation& operation) {
  const std::size_t bytes = plan.source->layout.bytes();
  StagingBuffer copy;
  int code = stage_payload(call, *plan.source, choice.why, copy);
  if (code != MPI_SUCCESS) return code;
  const bool needs_envelope =
      call.mode != SendMode::buffered && !may_travel_as_itself(call, bytes, copy.data());
  const transports::BufferView source{.buffer = transports::inspect(copy.data()),
                                      .layout = transports::Layout::contiguous(bytes)};
  turn.begin();
  if (!needs_envelope || !post_envelope(call, plan, source, record, operation, code))
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
  record.begin(scope, trace::Direction::send, call.communicator, call.destination, call.tag,
               source.layout.bytes(), source.buffer.kind, blocking);

  const SendChoice choice = choose_protocol(call, plan, blocking);
  if (choice.protocol == SendProtocol::copied)
    return post_copied(call, plan, choice, record, turn, operation);
  if (choice.protocol == SendProtocol::eager)
    return post_eager(call, plan, choice, record, turn, blocking, operation);
  int code = MPI_SUCCESS;
  if (post_announced(call, plan, record, turn, blocking, operation, code)) return code;
  const SendChoice instead{SendProtocol::eager, "too many messages are in flight", false};
  return post_eager(call, plan, instead, record, turn, blocking, operation);
}

}  // namespace

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
