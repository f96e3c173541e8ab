// MPI_Isendrecv and MPI_Isendrecv_replace: a send and a receive behind one request. Knows how messages are
// posted, not how they travel.
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "interpose/binding/mpi_level.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/messages/staging_buffers.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/protocol/receiving.hpp"
#include "interpose/protocol/sending.hpp"
#include "transports/copy_selection/blocking_copy.hpp"

namespace penstock::interpose {
namespace {

/// Complete when both are; the status is the receive's.
class PendingRun final : public Pending {
 public:
  PendingRun(Operation receive, Operation send, const ErrorTarget& errors, StagingBuffer copy,
             bool is_from_nobody)
      : copy_(std::move(copy)),
        is_from_nobody_(is_from_nobody),
        receive_(std::move(receive), errors),
        send_(std::move(send), errors) {}

  bool advance(bool /*arrived*/, const MPI_Status& /*status*/) override { return step_both(receive_, send_); }
  void fix_status(MPI_Status& status) const override {
    receive_.tell(status);
    if (is_from_nobody_) copy_without_error(empty_status(MPI_PROC_NULL), status);
  }
  int complete(MPI_Status& status, int code) override {
    const int send_code = send_.end(MPI_STATUS_IGNORE);
    const int receive_code = receive_.end(&status);
    if (is_from_nobody_) copy_without_error(empty_status(MPI_PROC_NULL), status);
    if (code != MPI_SUCCESS) return code;
    return send_code != MPI_SUCCESS ? send_code : receive_code;
  }
  [[nodiscard]] Progress progress() const override { return std::max(receive_.need(), send_.need()); }

 private:
  StagingBuffer copy_;  ///< the sent data, if not the user's buffer
  /// From MPI_PROC_NULL, whose status MPICH 4.0 tells only from a blocking call.
  bool is_from_nobody_;
  Waiting receive_;
  Waiting send_;
};

int post_both(const CallScope& scope, const SendCall& send, const ReceiveCall& receive, StagingBuffer copy,
              MPI_Request* request) {
  Operation receiving;
  if (const int code = post_receive(receive, plan_receive(receive), scope, false, receiving);
      code != MPI_SUCCESS)
    return code;
  Operation sending;
  if (const int code = post_send(send, plan_send(send), scope, false, sending); code != MPI_SUCCESS) {
    if (receiving.request != MPI_REQUEST_NULL) cancel(receiving);
    finish(std::move(receiving), receive.communicator, MPI_STATUS_IGNORE);
    return code;
  }
  *request = MPI_REQUEST_NULL;  // attach() makes a handle
  attach(request, std::make_unique<PendingRun>(std::move(receiving), std::move(sending),
                                               ErrorTarget::of(receive.communicator).kept(), std::move(copy),
                                               receive.source == MPI_PROC_NULL));
  return MPI_SUCCESS;
}

int post_exchange(const CallScope& scope, const SendCall& send, const ReceiveCall& receive,
                  MPI_Request* request) {
  return post_both(scope, send, receive, StagingBuffer(), request);
}

/// For one buffer: sends a copy, so that the receive may overwrite the buffer.
template <typename Plain>
int post_exchange_in_place(const CallScope& scope, const SendCall& send, const ReceiveCall& receive,
                           MPI_Request* request, Plain plain) {
  if (is_refused(send.count, send.datatype)) return plain();
  const transports::BufferView source = view_of(send.buffer, send.count, send.datatype);
  StagingBuffer copy(source.layout.bytes());
  const Status copied = copy.data() == nullptr ? Status{Code::out_of_memory, "staging memory"}
                                               : transports::download(copy.data(), source);
  if (!copied.ok()) return raise_status(send.communicator, "MPI_Isendrecv_replace", copied);
  SendCall send_copy = send;
  send_copy.buffer = copy.data();
  send_copy.count = static_cast<MPI_Count>(source.layout.bytes());
  send_copy.datatype = MPI_BYTE;
  return post_both(scope, send_copy, receive, std::move(copy), request);
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

#define PENSTOCK_EXCHANGES(Isendrecv, Isendrecv_replace, Count)                                            \
  PENSTOCK_EXPORT int MPI_##Isendrecv(const void* send_buffer, Count send_count, MPI_Datatype send_type,   \
                                      int destination, int send_tag, void* buffer, Count count,            \
                                      MPI_Datatype datatype, int source, int tag, MPI_Comm communicator,   \
                                      MPI_Request* request) try {                                          \
    CallScope scope(Function::Isendrecv, __builtin_return_address(0));                                     \
    if (passes_uncounted(scope, communicator)) {                                                           \
      return PMPI_##Isendrecv(send_buffer, send_count, send_type, destination, send_tag, buffer, count,    \
                              datatype, source, tag, communicator, request);                               \
    }                                                                                                      \
    return post_exchange(scope, {send_buffer, send_count, send_type, destination, send_tag, communicator}, \
                         {buffer, count, datatype, source, tag, communicator}, request);                   \
  }                                                                                                        \
  PENSTOCK_OUT_OF_MEMORY(communicator)                                                                     \
  PENSTOCK_EXPORT int MPI_##Isendrecv_replace(void* buffer, Count count, MPI_Datatype datatype,            \
                                              int destination, int send_tag, int source, int tag,          \
                                              MPI_Comm communicator, MPI_Request* request) try {           \
    CallScope scope(Function::Isendrecv_replace, __builtin_return_address(0));                             \
    const auto plain = [&] {                                                                               \
      return PMPI_##Isendrecv_replace(buffer, count, datatype, destination, send_tag, source, tag,         \
                                      communicator, request);                                              \
    };                                                                                                     \
    if (passes_uncounted(scope, communicator)) return plain();                                             \
    return post_exchange_in_place(scope, {buffer, count, datatype, destination, send_tag, communicator},   \
                                  {buffer, count, datatype, source, tag, communicator}, request, plain);   \
  }                                                                                                        \
  PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_EXCHANGES(Isendrecv, Isendrecv_replace, int)
#if PENSTOCK_HAS_LARGE_COUNTS
PENSTOCK_EXCHANGES(Isendrecv_c, Isendrecv_replace_c, MPI_Count)
#endif
