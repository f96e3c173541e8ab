// The wrappers of probes and matched receives. A probe must report the payload's size. An envelope that it
// finds is therefore received at once and kept for the receive that follows (matching.hpp).
#include <optional>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/binding/mpi_level.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/protocol/matched_messages.hpp"
#include "interpose/protocol/matching.hpp"
#include "interpose/protocol/receiving.hpp"

namespace penstock::interpose {
namespace {

/// Returns true if no message that a probe may find can be an envelope.
bool is_ignored(int source) {
  return source == MPI_PROC_NULL || !settings().move || !NodeDirectory::gpu_seen();
}

int probe_once(MPI_Comm communicator, int source, int tag, int* flag, MPI_Status* local) {
  const std::shared_ptr<CommunicatorInfo> info = info_of(communicator);
  if (info == nullptr) return PMPI_Iprobe(source, tag, communicator, flag, local);
  const StashLock lock(info.get());
  const StashedMessage* found = nullptr;
  return look_ahead(communicator, *info, source, tag, flag, local, &found);
}

int take_once(MPI_Comm communicator, int source, int tag, int* flag, MPI_Message* message,
              MPI_Status* local) {
  const std::shared_ptr<CommunicatorInfo> info = info_of(communicator);
  if (info == nullptr) return PMPI_Improbe(source, tag, communicator, flag, message, local);
  const StashLock lock(info.get());
  const StashedMessage* found = nullptr;
  const int code = look_ahead(communicator, *info, source, tag, flag, local, &found);
  if (code != MPI_SUCCESS || *flag == 0) return code;
  if (found == nullptr) {
    const int taken = PMPI_Improbe(local->MPI_SOURCE, local->MPI_TAG, communicator, flag, message, local);
    if (taken == MPI_SUCCESS && *flag != 0) note_message(*message, communicator);
    return taken;
  }
  return return_message(*info->stash, source, tag, communicator, message);
}

/// A blocking probe: calls `once(flag)` until it finds a message or fails.
template <typename Once>
int look_until_found(CallScope& scope, MPI_Comm communicator, const MPI_Status& local, MPI_Status* status,
                     Once once) {
  int code = MPI_SUCCESS;
  int flag = 0;
  for (Backoff backoff;; backoff.pause()) {
    code = once(&flag);
    if (code != MPI_SUCCESS || flag != 0) break;
    progress();
  }
  if (code == MPI_SUCCESS) scope.message(communicator, local.MPI_SOURCE, local.MPI_TAG, 0);
  copy_status(local, status);
  return code;
}

/// Ends a non-blocking probe.
void tell_or_progress(bool found, const MPI_Status& local, MPI_Status* status) {
  if (found) {
    copy_status(local, status);
  } else {
    progress();
  }
}

int receive_matched(CallScope& scope, const ReceiveCall& call, MPI_Message* message, MPI_Status* status) {
  Operation operation;
  int code = post_matched_receive(call, message, scope, true, operation);
  if (code != MPI_SUCCESS) return code;
  MPI_Status local = local_copy_of(status);
  // on MPI_COMM_WORLD, where the MPI libraries themselves raise errors of matched receives
  code = finish(std::move(operation), MPI_COMM_WORLD, &local);
  if (scope.recording()) scope.add_bytes(bytes_of(local));
  copy_status(local, status);
  return code;
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

PENSTOCK_EXPORT int MPI_Probe(int source, int tag, MPI_Comm communicator, MPI_Status* status) try {
  CallScope scope(Function::Probe, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Probe(source, tag, communicator, status);
  scope.message(communicator, source, tag, 0);
  MPI_Status local = local_copy_of(status);
  int code = MPI_SUCCESS;
  if (is_ignored(source)) {
    code = PMPI_Probe(source, tag, communicator, &local);
    // the message found may be the first envelope of the job
    if (code != MPI_SUCCESS || is_ignored(source)) {
      copy_status(local, status);
      return code;
    }
  }
  return look_until_found(scope, communicator, local, status,
                          [&](int* flag) { return probe_once(communicator, source, tag, flag, &local); });
}
PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm communicator, int* flag,
                               MPI_Status* status) try {
  CallScope scope(Function::Iprobe, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Iprobe(source, tag, communicator, flag, status);
  MPI_Status local = local_copy_of(status);
  int code = MPI_SUCCESS;
  if (is_ignored(source)) {
    code = PMPI_Iprobe(source, tag, communicator, flag, &local);
    if (code != MPI_SUCCESS || *flag == 0 || is_ignored(source)) {
      if (code == MPI_SUCCESS && *flag != 0) copy_status(local, status);
      return code;
    }
  }
  code = probe_once(communicator, source, tag, flag, &local);
  if (code == MPI_SUCCESS) tell_or_progress(*flag != 0, local, status);
  return code;
}
PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm communicator, MPI_Message* message,
                               MPI_Status* status) try {
  CallScope scope(Function::Mprobe, __builtin_return_address(0));
  if (source == MPI_PROC_NULL || !settings().move || passes_uncounted(scope, communicator)) {
    return PMPI_Mprobe(source, tag, communicator, message, status);
  }
  close_receives(communicator);
  scope.message(communicator, source, tag, 0);
  MPI_Status local = local_copy_of(status);
  return look_until_found(scope, communicator, local, status, [&](int* flag) {
    return take_once(communicator, source, tag, flag, message, &local);
  });
}
PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_EXPORT int MPI_Improbe(int source, int tag, MPI_Comm communicator, int* flag, MPI_Message* message,
                                MPI_Status* status) try {
  CallScope scope(Function::Improbe, __builtin_return_address(0));
  if (source == MPI_PROC_NULL || !settings().move || passes_uncounted(scope, communicator)) {
    return PMPI_Improbe(source, tag, communicator, flag, message, status);
  }
  close_receives(communicator);
  MPI_Status local = local_copy_of(status);
  const int code = take_once(communicator, source, tag, flag, message, &local);
  if (code == MPI_SUCCESS) tell_or_progress(*flag != 0, local, status);
  return code;
}
PENSTOCK_OUT_OF_MEMORY(communicator)

#define PENSTOCK_MATCHED_RECEIVES(Mrecv, Imrecv, Count)                                                    \
  PENSTOCK_EXPORT int MPI_##Mrecv(void* buffer, Count count, MPI_Datatype datatype, MPI_Message* message,  \
                                  MPI_Status* status) try {                                                \
    CallScope scope(Function::Mrecv, __builtin_return_address(0));                                         \
    if (scope.stands_aside()) return PMPI_##Mrecv(buffer, count, datatype, message, status);               \
    return receive_matched(scope, {buffer, count, datatype}, message, status);                             \
  }                                                                                                        \
  PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)                                                                    \
  PENSTOCK_EXPORT int MPI_##Imrecv(void* buffer, Count count, MPI_Datatype datatype, MPI_Message* message, \
                                   MPI_Request* request) try {                                             \
    CallScope scope(Function::Imrecv, __builtin_return_address(0));                                        \
    if (scope.stands_aside()) return PMPI_##Imrecv(buffer, count, datatype, message, request);             \
    Operation operation;                                                                                   \
    const int code = post_matched_receive({buffer, count, datatype}, message, scope, false, operation);    \
    if (code == MPI_SUCCESS) attach(std::move(operation), request);                                        \
    begin_large_arrivals(Posted::receive, false);                                                          \
    return code;                                                                                           \
  }                                                                                                        \
  PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_MATCHED_RECEIVES(Mrecv, Imrecv, int)
#if PENSTOCK_HAS_LARGE_COUNTS
PENSTOCK_MATCHED_RECEIVES(Mrecv_c, Imrecv_c, MPI_Count)
#endif
