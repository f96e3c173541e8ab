// The wrappers of partitioned communication (MPI-4, chapter 4). Where the receiver copies the partitions,
// MPI_Pready sets a word that it sees; otherwise it downloads the partition before the MPI library may send
// it. An arrived partition belongs to the application, which may read and change it: it is written once, by
// the first MPI_Parrived that finds it or by the completion of the message.
#include "interpose/binding/mpi_level.hpp"

#if PENSTOCK_HAS_MPI_4

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/partitioned/partition_notes.hpp"
#include "interpose/partitioned/partitioned_message.hpp"
#include "interpose/partitioned/partitioned_request.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/staging/out_of_reach.hpp"
#include "interpose/staging/staged_call.hpp"

namespace penstock::interpose {
namespace {

/// MPICH 4.0 crashes in partitioned messages to MPI_PROC_NULL.
int initialise_for_nobody(const PartitionedPeer& peer, MPI_Request* request) {
  if (peer.direction == trace::Direction::send)
    return PMPI_Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, peer.tag, peer.communicator, request);
  return PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, peer.tag, peer.communicator, request);
}

/// Has the MPI library initialise its own request, and meets the other side. Both match requests in the order
/// of these calls, so threads take turns.
template <typename Library>
int initialise_and_meet(PartitionedMessage& message, const void* buffer, MPI_Request* request,
                        Library library) {
  static constinit std::mutex turn;
  static RequestCounts& sends = *new RequestCounts;  // never destroyed: the program may end in another thread
  static RequestCounts& receives = *new RequestCounts;
  const std::lock_guard guard(turn);
  const PartitionedPeer& peer = message.peer();
  const std::uint32_t communicator = message.communicator() == nullptr ? 0 : message.communicator()->local_id;
  std::uint64_t& count = (message.sends() ? sends : receives).of(communicator, peer.rank, peer.tag);
  const int code = library(buffer);
  if (code == MPI_SUCCESS) message.meet(count++, *request);
  return code;
}

/// `library(buffer)` initialises the MPI library's own operation.
template <typename Library>
int initialise_partitioned(CallScope& scope, const PartitionedArgument& argument, const PartitionedPeer& peer,
                           MPI_Request* request, Library library) {
  scope.message(peer.communicator, peer.rank, peer.tag, 0);
  const bool is_for_nobody = peer.rank == MPI_PROC_NULL && argument.partitions >= 0 && argument.count >= 0;
  const auto message = std::make_shared<PartitionedMessage>(argument, peer);
  if (is_for_nobody) {
    const int code = initialise_for_nobody(peer, request);
    if (code == MPI_SUCCESS) attach_message(*request, message);
    return code;
  }
  // partitions have no absolute addresses (MPI-4 §4.2.3)
  if (may_be_absolute(argument.buffer) &&
      is_out_of_reach(argument.buffer, argument.count, argument.datatype)) {
    return ErrorTarget::of(peer.communicator).refuse_device_buffer(message->name());
  }
  if (const Status opened = message->open(); !opened.ok()) return message->raise(message->name(), opened);
  const PartitionedBuffer& buffer = message->buffer();
  const void* const address = buffer.is_staged() ? buffer.address() : argument.buffer;
  const int code = initialise_and_meet(*message, address, request, library);
  if (!buffer.is_staged() && !scope.recording()) return code;
  scope.buffer(static_cast<trace::BufferKind>(buffer.kind()));
  if (code == MPI_SUCCESS) attach_message(*request, message);
  return code;
}

/// `library()` marks the partitions ready in the MPI library, which also reports wrong arguments.
template <typename Library>
int mark_ready(const char* mpi_call, const FoundMessage& found, std::span<const int> partitions,
               Library library) {
  PartitionedMessage* const message = found.message.get();
  const auto is_of_message = [&](int partition) { return message->has(partition); };
  if (message == nullptr || !found.is_active || !message->sends() ||
      !std::ranges::all_of(partitions, is_of_message)) {
    return library();
  }
  if (message->peer().rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!message->is_librarys()) {
    message->signal(partitions);
    return MPI_SUCCESS;
  }
  if (const Status fetched = message->fetch(partitions); !fetched.ok())
    return message->raise(mpi_call, fetched);
  return library();
}

int mark_range_ready(int first, int last, MPI_Request request) {
  const FoundMessage found = find_message(request);
  std::vector<int> partitions;
  if (found.message != nullptr && first <= last && found.message->has(first) && found.message->has(last)) {
    partitions.resize(static_cast<std::size_t>(last - first) + 1);
    std::iota(partitions.begin(), partitions.end(), first);
  }
  if (partitions.empty()) return PMPI_Pready_range(first, last, request);
  return mark_ready("MPI_Pready_range", found, partitions,
                    [&] { return PMPI_Pready_range(first, last, request); });
}

/// int*, in newer headers const int*
template <typename List>
List list_of_partitions(int (*)(int, List, MPI_Request));
using PartitionList = decltype(list_of_partitions(&PMPI_Pready_list));
/// const void*, in MPICH 4.0 void*
template <typename Buffer>
Buffer buffer_to_send(int (*)(Buffer, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
                              MPI_Request*));
using BufferToSend = decltype(buffer_to_send(&PMPI_Psend_init));

int mark_list_ready(int length, PartitionList list, MPI_Request request) {
  const FoundMessage found = find_message(request);
  std::vector<int> partitions;
  if (found.message != nullptr && length > 0 && list != nullptr) partitions.assign(list, list + length);
  std::ranges::sort(partitions);  // neighbours then are one copy
  if (partitions.empty() && length != 0) return PMPI_Pready_list(length, list, request);
  return mark_ready("MPI_Pready_list", found, partitions,
                    [&] { return PMPI_Pready_list(length, list, request); });
}

int ask_for_arrival(MPI_Request request, int partition, int* flag) {
  const FoundMessage found = find_message(request);
  PartitionedMessage* const message = found.message.get();
  if (message == nullptr) return PMPI_Parrived(request, partition, flag);
  const bool is_for_nobody = message->peer().rank == MPI_PROC_NULL && message->has(partition);
  if (!found.is_active || (is_for_nobody && !message->sends())) {
    *flag = 1;
    return MPI_SUCCESS;
  }
  Status status;
  if (!message->is_librarys() && !message->sends() && message->has(partition)) {
    const RequestTable::Lock lock(request_table());
    *flag = message->has_arrived(partition, status) ? 1 : 0;
    return status.ok() ? MPI_SUCCESS : message->raise("MPI_Parrived", status);
  }
  const int code = PMPI_Parrived(request, partition, flag);
  if (code != MPI_SUCCESS || *flag == 0 || !message->has(partition)) return code;
  {
    const RequestTable::Lock lock(request_table());
    *flag = message->deliver(partition, status) ? 1 : 0;
  }
  return status.ok() ? code : message->raise("MPI_Parrived", status);
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

#define PENSTOCK_PARTITIONED_INIT(Name, direction_of_it, Pointer)                                          \
  PENSTOCK_EXPORT int MPI_##Name(Pointer buffer, int partitions, MPI_Count count, MPI_Datatype datatype,   \
                                 int peer, int tag, MPI_Comm communicator, MPI_Info info,                  \
                                 MPI_Request* request) try {                                               \
    CallScope scope(Function::Name, __builtin_return_address(0));                                          \
    const auto library = [&](const void* address) {                                                        \
      return PMPI_##Name(const_cast<void*>(address), partitions, count, datatype, peer, tag, communicator, \
                         info, request);                                                                   \
    };                                                                                                     \
    if (scope.stands_aside()) return library(buffer);                                                      \
    return initialise_partitioned(scope, {buffer, partitions, count, datatype},                            \
                                  {penstock::trace::Direction::direction_of_it, peer, tag, communicator},  \
                                  request, library);                                                       \
  }                                                                                                        \
  PENSTOCK_OUT_OF_MEMORY(communicator)

PENSTOCK_PARTITIONED_INIT(Psend_init, send, BufferToSend)
PENSTOCK_PARTITIONED_INIT(Precv_init, receive, void*)

PENSTOCK_EXPORT int MPI_Pready(int partition, MPI_Request request) try {
  const CallScope scope(Function::Pready, __builtin_return_address(0));
  const auto library = [&] { return PMPI_Pready(partition, request); };
  if (scope.stands_aside()) return library();
  return mark_ready("MPI_Pready", find_message(request), std::array{partition}, library);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Pready_range(int first, int last, MPI_Request request) try {
  const CallScope scope(Function::Pready_range, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Pready_range(first, last, request);
  return mark_range_ready(first, last, request);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Pready_list(int length, PartitionList partitions, MPI_Request request) try {
  const CallScope scope(Function::Pready_list, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Pready_list(length, partitions, request);
  return mark_list_ready(length, partitions, request);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Parrived(MPI_Request request, int partition, int* flag) try {
  const CallScope scope(Function::Parrived, __builtin_return_address(0));
  if (scope.stands_aside() || request_table().is_empty()) return PMPI_Parrived(request, partition, flag);
  const int code = ask_for_arrival(request, partition, flag);
  if (code == MPI_SUCCESS && *flag == 0) progress();
  return code;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

#endif
