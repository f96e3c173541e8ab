// How the interposer raises an MPI error of its own: through the communicator's error handler, as the MPI
// library would, with one line that says what happened. Knows no protocol.
#pragma once

#include <mpi.h>

#include <array>
#include <new>

#include "transports/status.hpp"

namespace penstock::interpose {

/// Calls the communicator's error handler (which may abort, throw or return) and returns `code`.
int raise(MPI_Comm communicator, int code);

/// "penstock: MPI_Put: device buffers are not supported in this call", then raise(MPI_ERR_BUFFER).
int refuse_device_buffer(MPI_Comm communicator, const char* mpi_call);

/// "MPI_Send: cuMemcpyAsync failed (CUDA error 2)": what failed in `what`, as one line of text.
using Line = std::array<char, 256>;
[[nodiscard]] Line describe(const char* what, const Status& status) noexcept;

/// The buffer of `mpi_call` was device memory and has been freed: MPI_ERR_BUFFER.
int raise_freed(MPI_Comm communicator, const char* mpi_call);

/// Says on one line what failed in `mpi_call`, then raise(MPI_ERR_OTHER or the class that fits the status).
int raise_status(MPI_Comm communicator, const char* mpi_call, const Status& status);

/// Memory for Penstock's own part of `mpi_call` ran out: the same with MPI_ERR_NO_MEM.
int raise_out_of_memory(MPI_Comm communicator, const char* mpi_call);

}  // namespace penstock::interpose

/// Behind a wrapper that is a function-try-block. Memory that runs out is an MPI error; any other exception
/// comes from the application (an error handler may throw) and passes.
#define PENSTOCK_OUT_OF_MEMORY(communicator)                                 \
  catch (const std::bad_alloc&) {                                            \
    return penstock::interpose::raise_out_of_memory(communicator, __func__); \
  }
