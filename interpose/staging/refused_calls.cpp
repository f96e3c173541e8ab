// Wraps the calls that accept no device buffers: memory attached to windows and the buffer of buffered sends.
// For a device buffer they raise MPI_ERR_BUFFER on their communicator or window; with host buffers they call
// the MPI library. refused_functions.def lists which arguments are buffers.
#include <mpi.h>

#include "interpose/binding/function_names.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/progress/gathering.hpp"
#include "interpose/staging/out_of_reach.hpp"

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
