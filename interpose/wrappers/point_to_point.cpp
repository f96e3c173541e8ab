// The wrappers of sends and receives. Each passes host traffic to the MPI library unchanged and everything
// else to sending and receiving.
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/binding/mpi_level.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/calls/transfer_record.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/messages/message_record.hpp"
#include "interpose/messages/staging_buffers.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/protocol/receiving.hpp"
#include "interpose/protocol/sending.hpp"
#include "transports/copy_selection/blocking_copy.hpp"

namespace penstock::interpose {
namespace {

/// Host memory in which Penstock has no part counts as pageable.
trace::BufferKind kind_of(bool on_device, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return static_cast<trace::BufferKind>(on_device ? view_of(buffer, count, datatype).buffer.kind
                                                  : transports::BufferKind::pageable);
}

void record_arguments(CallScope& scope, const SendCall& call, const SendPlan& plan) {
  if (!scope.recording()) return;
  scope.message(call.communicator, call.destination, call.tag, payload_bytes(call.count, call.datatype));
  scope.buffer(plan.is_plain() ? kind_of(plan.on_device, call.buffer, call.count, call.datatype)
                               : static_cast<trace::BufferKind>(plan.source->buffer.kind));
}

void record_envelope(CallScope& scope, const ReceiveCall& call) {
  // the size of the message is not known yet
  if (scope.recording()) scope.message(call.communicator, call.source, call.tag, 0);
}

void record_arguments(CallScope& scope, const ReceiveCall& call, const ReceivePlan& plan) {
  if (!scope.recording()) return;
  record_envelope(scope, call);
  scope.buffer(kind_of(plan.on_device, call.buffer, call.count, call.datatype));
}

/// `as_it_came` makes the user's call to the MPI library.
template <typename AsItCame>
int send_blocking(CallScope& scope, const SendCall& call, AsItCame as_it_came) {
  const SendPlan plan = plan_send(call);
  record_arguments(scope, call, plan);
  if (plan.is_plain() && !must_poll() && !posts_in_turns()) {
    MessageRecord record;
    record.begin(scope, trace::Direction::send, call.communicator, call.destination, call.tag,
                 scope.recording() ? payload_bytes(call.count, call.datatype) : 0,
                 transports::BufferKind::pageable, true);
    PostingTurn turn(MessageHalf::send, call.communicator, call.destination, call.tag);
    turn.begin();
    const int code = as_it_came();
    turn.posted(code);
    record.complete();
    return code;
  }
  Operation operation;
  const int code = post_send(call, plan, scope, true, operation);
  return code == MPI_SUCCESS ? finish(std::move(operation), call.communicator, MPI_STATUS_IGNORE) : code;
}

int send_nonblocking(CallScope& scope, const SendCall& call, MPI_Request* request) {
  SendPlan plan = plan_send(call);
  record_arguments(scope, call, plan);
  plan.others_follow = plan.on_device && amid_sends();
  Operation operation;
  const int code = post_send(call, plan, scope, false, operation);
  if (code == MPI_SUCCESS) attach(std::move(operation), request);
  begin_large_arrivals(Posted::send, plan.on_device);
  return code;
}

template <typename Plain>
int receive_blocking(CallScope& scope, const ReceiveCall& call, MPI_Status* status, Plain plain) {
  const ReceivePlan plan = plan_blocking_receive(call);
  record_envelope(scope, call);  // whoever looks while the call waits sees for whom
  MPI_Status local = local_copy_of(status);
  int code = MPI_SUCCESS;
  if (plan.is_direct) {
    PostingTurn turn(MessageHalf::receive, call.communicator, call.source, call.tag);
    turn.begin();
    code = plain(&local);
    turn.posted(code);
    code = after_direct_receive(call, plan, scope, code, local);
  } else {
    Operation operation;
    code = post_receive(call, plan, scope, true, operation);
    if (code != MPI_SUCCESS) return code;
    code = finish(std::move(operation), call.communicator, &local);
  }
  if (scope.recording()) {
    scope.buffer(kind_of(plan.on_device, call.buffer, call.count, call.datatype));
    if (call.source == MPI_ANY_SOURCE || call.tag == MPI_ANY_TAG) {
      scope.message(call.communicator, local.MPI_SOURCE, local.MPI_TAG, bytes_of(local));
    } else if (call.source != MPI_PROC_NULL) {
      scope.add_bytes(bytes_of(local));
    }
  }
  copy_status(local, status);
  return code;
}

int receive_nonblocking(CallScope& scope, const ReceiveCall& call, MPI_Request* request) {
  const ReceivePlan plan = plan_receive(call);
  record_arguments(scope, call, plan);
  Operation operation;
  const int code = post_receive(call, plan, scope, false, operation);
  if (code == MPI_SUCCESS) attach(std::move(operation), request);
  begin_large_arrivals(Posted::receive, false);
  return code;
}

/// Posts both at once: neither may wait for the other.
int exchange(const CallScope& scope, const ReceiveCall& receive, const ReceivePlan& receive_plan,
             const SendCall& send, const SendPlan& send_plan, MPI_Status* status) {
  Operation receiving;
  int code = post_receive(receive, receive_plan, scope, true, receiving);
  if (code != MPI_SUCCESS) return code;
  Operation sending;
  const int send_code = post_send(send, send_plan, scope, true, sending);
  if (send_code != MPI_SUCCESS && receiving.request != MPI_REQUEST_NULL) cancel(receiving);
  Waiting wait_receive(std::move(receiving), ErrorTarget::of(receive.communicator));
  Waiting wait_send(std::move(sending), ErrorTarget::of(send.communicator));
  for (Backoff backoff; !step_both(wait_receive, wait_send); backoff.pause()) progress();
  code = wait_send.end(MPI_STATUS_IGNORE);
  int receive_code = wait_receive.end(status);
  if (receive.source == MPI_PROC_NULL) {  // MPICH returns its status only from a blocking call
    receive_code = PMPI_Recv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, receive.tag, receive.communicator, status);
  }
  if (send_code != MPI_SUCCESS) return send_code;
  return code != MPI_SUCCESS ? code : receive_code;
}

/// An exchange, and how its halves go. `by_library`: both at once, by the MPI library's call.
struct PlannedExchange {
  SendCall send;
  ReceiveCall receive;
  SendPlan send_plan = plan_send(send);
  ReceivePlan receive_plan = plan_blocking_receive(receive);
  bool by_library = send_plan.is_plain() && receive_plan.is_direct && !posts_in_turns();
};

template <typename Plain>
int carry_out(CallScope& scope, const PlannedExchange& planned, MPI_Status* status, Plain plain) {
  const auto& [send, receive, send_plan, receive_plan, by_library] = planned;
  record_arguments(scope, send, send_plan);
  scope.receives_from(receive.communicator, receive.source, receive.tag);
  MPI_Status local = local_copy_of(status);
  int code = MPI_SUCCESS;
  if (by_library) {
    MessageRecord record;
    record.begin(scope, trace::Direction::send, send.communicator, send.destination, send.tag,
                 scope.recording() ? payload_bytes(send.count, send.datatype) : 0,
                 transports::BufferKind::pageable, true);
    PostingTurn receive_turn(MessageHalf::receive, receive.communicator, receive.source, receive.tag);
    PostingTurn send_turn(MessageHalf::send, send.communicator, send.destination, send.tag);
    receive_turn.begin();
    send_turn.begin();
    code = plain(&local);
    send_turn.posted(code);
    receive_turn.posted(code);
    record.complete();
    code = after_direct_receive(receive, receive_plan, scope, code, local);
  } else {
    code = exchange(scope, receive, receive_plan, send, send_plan, &local);
  }
  if (scope.recording()) scope.add_bytes(bytes_of(local));
  copy_status(local, status);
  return code;
}

template <typename Plain>
int exchange_blocking(CallScope& scope, const SendCall& send, const ReceiveCall& receive, MPI_Status* status,
                      Plain plain) {
  return carry_out(scope, PlannedExchange{send, receive}, status, plain);
}

/// Sends a copy of the buffer, so that the receive may overwrite it.
template <typename Plain>
int replace_blocking(CallScope& scope, const SendCall& send, const ReceiveCall& receive, MPI_Status* status,
                     Plain plain) {
  if (is_refused(send.count, send.datatype)) return plain(status);
  // planned once: where a GPU comes into use meanwhile, a second plan may not be for one buffer
  PlannedExchange planned{send, receive};
  if (planned.by_library) return carry_out(scope, planned, status, plain);
  const transports::BufferView source = view_of(send.buffer, send.count, send.datatype);
  const StagingBuffer copy(source.layout.bytes());
  const Status copied =
      copy.data() == nullptr
          ? Status{Code::out_of_memory, "staging memory"}
          : staged_copy(source.layout.bytes(), source.buffer.kind, transports::BufferKind::pageable,
                        "MPI_Sendrecv_replace sends a copy",
                        [&] { return transports::download(copy.data(), source); });
  if (!copied.ok()) return raise_status(send.communicator, "MPI_Sendrecv_replace", copied);
  planned.send.buffer = copy.data();
  planned.send.count = static_cast<MPI_Count>(source.layout.bytes());
  planned.send.datatype = MPI_BYTE;
  planned.send_plan = plan_send(planned.send);
  return carry_out(scope, planned, status, plain);
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

// One row for each way to send: the blocking and the non-blocking call of a mode, with a count type.
#define PENSTOCK_SENDS(Blocking, NonBlocking, send_mode, Count)                                          \
  PENSTOCK_EXPORT int MPI_##Blocking(const void* buffer, Count count, MPI_Datatype datatype,             \
                                     int destination, int tag, MPI_Comm communicator) try {              \
    CallScope scope(Function::Blocking, __builtin_return_address(0));                                    \
    const auto plain = [&] {                                                                             \
      return PMPI_##Blocking(buffer, count, datatype, destination, tag, communicator);                   \
    };                                                                                                   \
    if (passes_uncounted(scope, communicator)) return plain();                                           \
    return send_blocking(scope, {buffer, count, datatype, destination, tag, communicator, send_mode},    \
                         plain);                                                                         \
  }                                                                                                      \
  PENSTOCK_OUT_OF_MEMORY(communicator)                                                                   \
  PENSTOCK_EXPORT int MPI_##NonBlocking(const void* buffer, Count count, MPI_Datatype datatype,          \
                                        int destination, int tag, MPI_Comm communicator,                 \
                                        MPI_Request* request) try {                                      \
    CallScope scope(Function::NonBlocking, __builtin_return_address(0));                                 \
    if (passes_uncounted(scope, communicator)) {                                                         \
      return PMPI_##NonBlocking(buffer, count, datatype, destination, tag, communicator, request);       \
    }                                                                                                    \
    return send_nonblocking(scope, {buffer, count, datatype, destination, tag, communicator, send_mode}, \
                            request);                                                                    \
  }                                                                                                      \
  PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_SENDS(Send, Isend, SendMode::standard, int)
PENSTOCK_SENDS(Ssend, Issend, SendMode::synchronous, int)
PENSTOCK_SENDS(Bsend, Ibsend, SendMode::buffered, int)
PENSTOCK_SENDS(Rsend, Irsend, SendMode::ready, int)

// Receives and exchanges, with a count type.
#define PENSTOCK_RECEIVES(Recv, Irecv, Sendrecv, Sendrecv_replace, Count)                                \
  PENSTOCK_EXPORT int MPI_##Recv(void* buffer, Count count, MPI_Datatype datatype, int source, int tag,  \
                                 MPI_Comm communicator, MPI_Status* status) try {                        \
    CallScope scope(Function::Recv, __builtin_return_address(0));                                        \
    const auto plain = [&](MPI_Status* local) {                                                          \
      return PMPI_##Recv(buffer, count, datatype, source, tag, communicator, local);                     \
    };                                                                                                   \
    if (passes_uncounted(scope, communicator)) return plain(status);                                     \
    return receive_blocking(scope, {buffer, count, datatype, source, tag, communicator}, status, plain); \
  }                                                                                                      \
  PENSTOCK_OUT_OF_MEMORY(communicator)                                                                   \
  PENSTOCK_EXPORT int MPI_##Irecv(void* buffer, Count count, MPI_Datatype datatype, int source, int tag, \
                                  MPI_Comm communicator, MPI_Request* request) try {                     \
    CallScope scope(Function::Irecv, __builtin_return_address(0));                                       \
    if (passes_uncounted(scope, communicator))                                                           \
      return PMPI_##Irecv(buffer, count, datatype, source, tag, communicator, request);                  \
    return receive_nonblocking(scope, {buffer, count, datatype, source, tag, communicator}, request);    \
  }                                                                                                      \
  PENSTOCK_OUT_OF_MEMORY(communicator)                                                                   \
  PENSTOCK_EXPORT int MPI_##Sendrecv(const void* send_buffer, Count send_count, MPI_Datatype send_type,  \
                                     int destination, int send_tag, void* buffer, Count count,           \
                                     MPI_Datatype datatype, int source, int tag, MPI_Comm communicator,  \
                                     MPI_Status* status) try {                                           \
    CallScope scope(Function::Sendrecv, __builtin_return_address(0));                                    \
    const auto plain = [&](MPI_Status* local) {                                                          \
      return PMPI_##Sendrecv(send_buffer, send_count, send_type, destination, send_tag, buffer, count,   \
                             datatype, source, tag, communicator, local);                                \
    };                                                                                                   \
    if (passes_uncounted(scope, communicator)) return plain(status);                                     \
    return exchange_blocking(scope,                                                                      \
                             {send_buffer, send_count, send_type, destination, send_tag, communicator},  \
                             {buffer, count, datatype, source, tag, communicator}, status, plain);       \
  }                                                                                                      \
  PENSTOCK_OUT_OF_MEMORY(communicator)                                                                   \
  PENSTOCK_EXPORT int MPI_##Sendrecv_replace(void* buffer, Count count, MPI_Datatype datatype,           \
                                             int destination, int send_tag, int source, int tag,         \
                                             MPI_Comm communicator, MPI_Status* status) try {            \
    CallScope scope(Function::Sendrecv_replace, __builtin_return_address(0));                            \
    const auto plain = [&](MPI_Status* local) {                                                          \
      return PMPI_##Sendrecv_replace(buffer, count, datatype, destination, send_tag, source, tag,        \
                                     communicator, local);                                               \
    };                                                                                                   \
    if (passes_uncounted(scope, communicator)) return plain(status);                                     \
    return replace_blocking(scope, {buffer, count, datatype, destination, send_tag, communicator},       \
                            {buffer, count, datatype, source, tag, communicator}, status, plain);        \
  }                                                                                                      \
  PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_RECEIVES(Recv, Irecv, Sendrecv, Sendrecv_replace, int)

#if PENSTOCK_HAS_LARGE_COUNTS
PENSTOCK_SENDS(Send_c, Isend_c, SendMode::standard, MPI_Count)
PENSTOCK_SENDS(Ssend_c, Issend_c, SendMode::synchronous, MPI_Count)
PENSTOCK_SENDS(Bsend_c, Ibsend_c, SendMode::buffered, MPI_Count)
PENSTOCK_SENDS(Rsend_c, Irsend_c, SendMode::ready, MPI_Count)
PENSTOCK_RECEIVES(Recv_c, Irecv_c, Sendrecv_c, Sendrecv_replace_c, MPI_Count)
#endif
