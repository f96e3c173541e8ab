#include "interpose/protocol/receiving.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/progress/host_receives.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/protocol/matched_messages.hpp"
#include "interpose/protocol/receive.hpp"
#include "interpose/protocol/receive_buffer.hpp"

namespace penstock::interpose {

ReceivePlan plan_receive(const ReceiveCall& call) {
  ReceivePlan plan;
  plan.on_device = touches_device(call.buffer, call.count, call.datatype);
  plan.is_ignored = call.source == MPI_PROC_NULL || !settings().move || is_refused(call.count, call.datatype);
  if (!plan.is_ignored) expect_envelopes_if(NodeDirectory::gpu_seen());
  return plan;
}

ReceivePlan plan_blocking_receive(const ReceiveCall& call) {
  ReceivePlan plan = plan_receive(call);
  plan.is_direct = plan.is_ignored;
  if (plan.is_ignored) return plan;
  const bool may_be_stashed = request_table().stashed_messages.load(std::memory_order_relaxed) != 0;
  // another thread's probe must not take a message between the search of the stash and the post
  const bool may_become_stashed = request_table().is_threaded() && NodeDirectory::gpu_seen();
  plan.is_direct = !plan.on_device && !must_poll() && !may_be_stashed && !may_become_stashed &&
                   !posts_in_turns() &&
                   !(small_payloads_may_come() &&
                     !copy_first_bytes(call.buffer, call.count, call.datatype, plan.first_bytes));
  return plan;
}

int after_direct_receive(const ReceiveCall& call, const ReceivePlan& plan, const CallScope& scope, int code,
                         MPI_Status& status) {
  if (plan.is_ignored || code != MPI_SUCCESS) return code;
  const bool may_be_envelope = node_directory().is_open() && bytes_of(status) == envelope_bytes;
  if (!may_be_envelope && !scope.recording()) return code;
  Receive receive(call, info_of(call.communicator), plan.on_device);
  if (const int refused = receive.prepare(scope, true); refused != MPI_SUCCESS) return refused;
  receive.was_in_place(plan.first_bytes);
  Backoff backoff;
  while (!receive.advance(true, status)) {
    progress();
    backoff.pause();
  }
  receive.fix_status(status);
  return receive.complete(status, code);
}

int post_receive(const ReceiveCall& call, const ReceivePlan& plan, const CallScope& scope, bool blocking,
                 Operation& operation) {
  if (plan.is_ignored) {
    return pmpi_irecv(call.buffer, call.count, call.datatype, call.source, call.tag, call.communicator,
                      &operation.request);
  }
  auto receive = std::make_unique<Receive>(call, info_of(call.communicator), plan.on_device);
  int code = receive->prepare(scope, blocking);
  if (code != MPI_SUCCESS) return code;
  PostingTurn turn(MessageHalf::receive, call.communicator, call.source, call.tag);
  turn.begin();
  bool is_stashed = false;
  if (NodeDirectory::gpu_seen()) {
    CommunicatorInfo* const info = receive->communicator();
    const StashLock lock(info);
    if (std::optional<StashedMessage> message = take_stashed(info, call.source, call.tag)) {
      is_stashed = true;
      if (message->message != MPI_MESSAGE_NULL) {
        code = receive->post_matched(&message->message, &operation.request);
      } else {
        code = receive->adopt_stashed(*message);
      }
    } else {
      code = receive->post(&operation.request);
    }
  } else {
    code = receive->post(&operation.request);
  }
  turn.posted(code);
  if (code == MPI_SUCCESS && turn.name() && !is_stashed) receive->note_name(*turn.name());
  operation.unique_handle = true;
  if (code == MPI_SUCCESS) operation.pending = std::move(receive);
  return code;
}

int post_matched_receive(const ReceiveCall& call, MPI_Message* message, const CallScope& scope, bool blocking,
                         Operation& operation) {
  if (!settings().move || *message == MPI_MESSAGE_NO_PROC) {
    return pmpi_imrecv(call.buffer, call.count, call.datatype, message, &operation.request);
  }
  expect_envelopes_if(NodeDirectory::gpu_seen());
  auto receive = std::make_unique<Receive>(call, communicator_of_message(*message),
                                           touches_device(call.buffer, call.count, call.datatype));
  int code = receive->prepare(scope, blocking);
  if (code != MPI_SUCCESS) return code;  // the message can still be received
  if (const std::optional<StashedMessage> stashed = take_matched_message(message)) {
    code = receive->adopt_stashed(*stashed);
  } else {
    code = receive->post_matched(message, &operation.request);
  }
  operation.unique_handle = true;
  if (code == MPI_SUCCESS) operation.pending = std::move(receive);
  return code;
}

}  // namespace penstock::interpose
