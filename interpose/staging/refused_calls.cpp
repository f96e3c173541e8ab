// Wraps the calls that accept no device buffers: one-sided, partitioned, split collective I/O, and the buffer
// of buffered sends. For a device buffer they raise MPI_ERR_BUFFER on their communicator, window or file;
// with host buffers they call the MPI library. refused_functions.def lists which arguments are buffers.
#include <mpi.h>

#include <algorithm>

#include "interpose/binding/function_names.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/progress/gathering.hpp"
#include "interpose/staging/staged_call.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {
namespace {

/// Managed memory is allowed, as the host, and so the MPI library, can access it.
bool is_out_of_reach(const void* buffer) {
  return lies_on_device(buffer) && transports::inspect(buffer).kind != transports::BufferKind::managed;
}
/// With an absolute address, the datatype determines where the buffer is.
bool is_out_of_reach(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (!may_be_absolute(buffer)) return is_out_of_reach(buffer);
  if (!touches_device(buffer, count, datatype)) return false;
  const transports::BufferView view = view_of(buffer, count, datatype);
  const auto is_refused = [](const transports::Buffer& one) {
    return one.kind == transports::BufferKind::unknown ||
           (transports::lives_on_device(one.kind) && one.kind != transports::BufferKind::managed);
  };
  if (!view.is_scattered()) return is_refused(view.buffer);
  return std::ranges::any_of(*view.parts,
                             [&](const transports::ViewPart& part) { return is_refused(part.view.buffer); });
}

}  // namespace
}  // namespace penstock::interpose

#define PENSTOCK_AND_ALL_OF(...) __VA_OPT__(, ) __VA_ARGS__
#define PENSTOCK_REFUSED(name, parameters, arguments, errors, buffers)          \
  PENSTOCK_EXPORT int MPI_##name parameters try {                               \
    using namespace penstock::interpose;                                        \
    CallScope scope(Function::name, __builtin_return_address(0));               \
    if (scope.stands_aside()) return PMPI_##name arguments;                     \
    if (buffers) return ErrorTarget::errors.refuse_device_buffer("MPI_" #name); \
    return among_others<Function::name>(                                        \
        [&] { return PMPI_##name arguments; } PENSTOCK_AND_ALL_OF arguments);   \
  }                                                                             \
  PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)
#include "interpose/binding/refused_functions.def"
