// Persistent point-to-point operations in which Penstock takes part: each start posts one anew behind the
// user's request. Also the starts of all persistent requests, including collectives.
#include <algorithm>
#include <memory>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/binding/mpi_level.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/datatypes/held_datatype.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/protocol/receiving.hpp"
#include "interpose/protocol/sending.hpp"

namespace penstock::interpose {
namespace {

class PersistentSend final : public Recipe {
 public:
  explicit PersistentSend(const SendCall& call)
      : call_(call), communicator_(call.communicator), datatype_(call.datatype) {
    call_.datatype = datatype_.get();
  }
  int start(const CallScope& scope, Operation& operation) override {
    return post_send(call_, plan_send(call_), scope, false, operation);
  }
  [[nodiscard]] Posted posts() const noexcept override { return Posted::send; }

 private:
  SendCall call_;
  HeldCommunicator communicator_;
  HeldDatatype datatype_;
};

class PersistentReceive final : public Recipe {
 public:
  explicit PersistentReceive(const ReceiveCall& call)
      : call_(call), communicator_(call.communicator), datatype_(call.datatype) {
    call_.datatype = datatype_.get();
  }
  int start(const CallScope& scope, Operation& operation) override {
    return post_receive(call_, plan_receive(call_), scope, false, operation);
  }
  [[nodiscard]] Posted posts() const noexcept override { return Posted::receive; }

 private:
  ReceiveCall call_;
  HeldCommunicator communicator_;
  HeldDatatype datatype_;
};

/// Gives the user an inert request of the MPI library, and attaches the recipe of a call to it. The library's
/// own call, `plain`, says whether the arguments are right.
template <typename PersistentCall, typename Call, typename Plain>
int insert_persistent(const Call& call, MPI_Request* request, Plain plain) {
  if (const int code = plain(); code != MPI_SUCCESS) return code;
  PMPI_Request_free(request);
  const int code = PMPI_Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, call.communicator, request);
  if (code == MPI_SUCCESS) attach_persistent(*request, std::make_unique<PersistentCall>(call));
  return code;
}

template <typename Plain>
int initialise_send(CallScope& scope, const SendCall& call, MPI_Request* request, Plain plain) {
  scope.message(call.communicator, call.destination, call.tag, 0);
  const bool is_seen_at_each_start = scope.recording() || counts_messages();
  if (is_always_plain(call) && !is_seen_at_each_start) return plain();
  return insert_persistent<PersistentSend>(call, request, plain);
}

template <typename Plain>
int initialise_receive(CallScope& scope, const ReceiveCall& call, MPI_Request* request, Plain plain) {
  scope.message(call.communicator, call.source, call.tag, 0);
  if (call.source == MPI_PROC_NULL) return plain();
  return insert_persistent<PersistentReceive>(call, request, plain);
}

RequestEntry* find_persistent(MPI_Request request) {
  if (request_table().is_empty() || request == MPI_REQUEST_NULL) return nullptr;
  const RequestTable::Lock lock(request_table());
  RequestEntry* entry = request_table().find(request);
  return entry != nullptr && entry->kind == Handle::persistent ? entry : nullptr;
}

/// Sets `posted` to the kind of the start; keeps it if it was a send.
int start_one(const CallScope& scope, MPI_Request* request, Posted& posted) {
  RequestEntry* entry = find_persistent(*request);
  if (entry == nullptr) return PMPI_Start(request);
  if (entry->active) return ErrorTarget::of(MPI_COMM_NULL).raise(MPI_ERR_REQUEST);
  posted = std::max(posted, entry->recipe->posts());
  return request_table().start(*entry, scope);
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

#define PENSTOCK_SEND_INIT(Name, send_mode, Count)                                                        \
  PENSTOCK_EXPORT int MPI_##Name(const void* buffer, Count count, MPI_Datatype datatype, int destination, \
                                 int tag, MPI_Comm communicator, MPI_Request* request) try {              \
    CallScope scope(Function::Name, __builtin_return_address(0));                                         \
    const auto plain = [&] {                                                                              \
      return PMPI_##Name(buffer, count, datatype, destination, tag, communicator, request);               \
    };                                                                                                    \
    if (passes_uncounted(scope, communicator)) return plain();                                            \
    return initialise_send(scope, {buffer, count, datatype, destination, tag, communicator, send_mode},   \
                           request, plain);                                                               \
  }                                                                                                       \
  PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_SEND_INIT(Send_init, SendMode::standard, int)
PENSTOCK_SEND_INIT(Ssend_init, SendMode::synchronous, int)
PENSTOCK_SEND_INIT(Bsend_init, SendMode::buffered, int)
PENSTOCK_SEND_INIT(Rsend_init, SendMode::ready, int)

#define PENSTOCK_RECV_INIT(Name, Count)                                                                     \
  PENSTOCK_EXPORT int MPI_##Name(void* buffer, Count count, MPI_Datatype datatype, int source, int tag,     \
                                 MPI_Comm communicator, MPI_Request* request) try {                         \
    CallScope scope(Function::Name, __builtin_return_address(0));                                           \
    const auto plain = [&] {                                                                                \
      return PMPI_##Name(buffer, count, datatype, source, tag, communicator, request);                      \
    };                                                                                                      \
    if (passes_uncounted(scope, communicator)) return plain();                                              \
    return initialise_receive(scope, {buffer, count, datatype, source, tag, communicator}, request, plain); \
  }                                                                                                         \
  PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_RECV_INIT(Recv_init, int)

#if PENSTOCK_HAS_LARGE_COUNTS
PENSTOCK_SEND_INIT(Send_init_c, SendMode::standard, MPI_Count)
PENSTOCK_SEND_INIT(Ssend_init_c, SendMode::synchronous, MPI_Count)
PENSTOCK_SEND_INIT(Bsend_init_c, SendMode::buffered, MPI_Count)
PENSTOCK_SEND_INIT(Rsend_init_c, SendMode::ready, MPI_Count)
PENSTOCK_RECV_INIT(Recv_init_c, MPI_Count)
#endif

PENSTOCK_EXPORT int MPI_Start(MPI_Request* request) try {
  CallScope scope(Function::Start, __builtin_return_address(0));
  if (scope.stands_aside() || request_table().is_empty()) return PMPI_Start(request);
  Posted posted = Posted::receive;
  const int code = start_one(scope, request, posted);
  begin_large_arrivals(posted, true);
  return code;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Startall(int count, MPI_Request requests[]) try {
  CallScope scope(Function::Startall, __builtin_return_address(0));
  if (scope.stands_aside() || request_table().is_empty() || count < 0) return PMPI_Startall(count, requests);
  int first_failure = MPI_SUCCESS;
  Posted posted = Posted::receive;
  for (int i = 0; i < count; ++i) {
    const int code = start_one(scope, &requests[i], posted);
    if (first_failure == MPI_SUCCESS) first_failure = code;
  }
  begin_large_arrivals(posted, true);
  return first_failure;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)
