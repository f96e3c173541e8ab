// The wrappers of all other calls with a buffer, generated from the table: those that have a description are
// staged, the rest refuse device buffers.
#include "interpose/nonblocking_exchange.hpp"
#include "interpose/progress.hpp"
#include "interpose/refused_calls.hpp"
#include "interpose/staged_calls_files.hpp"
#include "interpose/staged_calls_packing.hpp"

namespace penstock::interpose {

PENSTOCK_DESCRIBE(Pack, pack)
PENSTOCK_DESCRIBE(Pack_external, pack_external)
PENSTOCK_DESCRIBE(Unpack, unpack)
PENSTOCK_DESCRIBE(Unpack_external, unpack_external)
PENSTOCK_DESCRIBE(Reduce_local, reduce_local)

/// A call that reads from a file and the one that writes to it.
#define PENSTOCK_DESCRIBE_FILE(Read, Write, read, write) \
  PENSTOCK_DESCRIBE(Read, read) PENSTOCK_DESCRIBE(Write, write)

PENSTOCK_DESCRIBE_FILE(File_read, File_write, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_read_all, File_write_all, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_read_ordered, File_write_ordered, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_read_shared, File_write_shared, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_read_at, File_write_at, file_read_at, file_write_at)
PENSTOCK_DESCRIBE_FILE(File_read_at_all, File_write_at_all, file_read_at, file_write_at)
PENSTOCK_DESCRIBE_FILE(File_iread, File_iwrite, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_iread_all, File_iwrite_all, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_iread_shared, File_iwrite_shared, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_iread_at, File_iwrite_at, file_read_at, file_write_at)
PENSTOCK_DESCRIBE_FILE(File_iread_at_all, File_iwrite_at_all, file_read_at, file_write_at)

#if MPI_VERSION >= 4
constexpr auto isendrecv = [](const auto& call, const void* send, auto send_count, MPI_Datatype send_type,
                              int destination, int send_tag, void* receive, auto receive_count,
                              MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm communicator,
                              MPI_Request* request) {
  return post_exchange(call.scope(), {send, send_count, send_type, destination, send_tag, communicator},
                       {receive, receive_count, receive_type, source, receive_tag, communicator}, request);
};
constexpr auto isendrecv_replace = [](const auto& call, void* buffer, auto count, MPI_Datatype datatype,
                                      int destination, int send_tag, int source, int receive_tag,
                                      MPI_Comm communicator, MPI_Request* request) {
  return post_exchange_in_place(call.scope(), {buffer, count, datatype, destination, send_tag, communicator},
                                {buffer, count, datatype, source, receive_tag, communicator}, request);
};
PENSTOCK_DESCRIBE(Isendrecv, isendrecv)
PENSTOCK_DESCRIBE(Isendrecv_replace, isendrecv_replace)
#endif

namespace {

template <Function function, typename Call, typename... Arguments>
int carry_out(const Call& call, Arguments... arguments) {
  if constexpr (waits(function)) settle();
  if constexpr (is_described<function>) {
    return description<function>(call, arguments...);
  } else {
    return refuse_device_buffers<function>(call, arguments...);
  }
}

}  // namespace
}  // namespace penstock::interpose

#define PENSTOCK_EXPAND_staged_calls(name, result, parameters, arguments) \
  PENSTOCK_EXPORT_CALL(LibraryCall, carry_out<Function::name>, name, parameters, arguments)

// the owners of all other rows
#define PENSTOCK_EXPAND_pass(...)
#define PENSTOCK_EXPAND_pcontrol(...)
#define PENSTOCK_EXPAND_left_out(...)
#define PENSTOCK_EXPAND_lifecycle(...)
#define PENSTOCK_EXPAND_point_to_point(...)
#define PENSTOCK_EXPAND_probing(...)
#define PENSTOCK_EXPAND_persistent(...)
#define PENSTOCK_EXPAND_completion(...)
#define PENSTOCK_EXPAND_communicators(...)
#define PENSTOCK_EXPAND_collectives(...)

#define PENSTOCK_ROW(owner, waits, name, result, parameters, arguments) \
  PENSTOCK_EXPAND_##owner(name, result, parameters, arguments)
#include "interpose/mpi_functions.def"
