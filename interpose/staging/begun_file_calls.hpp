// The split collectives that have begun on files and not ended, as far as Penstock has stand-ins for their
// buffers. Knows no single MPI function.
#pragma once

#include <mpi.h>

#include <list>
#include <memory>

#include "interpose/staging/library_call.hpp"

namespace penstock::interpose {

/// Holds what the call that ends it needs of the one that began it.
struct BegunFileCall {
  MPI_File file = MPI_FILE_NULL;
  void* stand_in = nullptr;
  std::unique_ptr<PendingStagedCall> pending;
};

/// Holds none or one, in memory that is taken before the MPI library is called.
using BegunFileCalls = std::list<BegunFileCall>;

/// Keep a call until it ends, and return the one that began on the file. Thread: any.
void keep_begun(BegunFileCalls begun) noexcept;
[[nodiscard]] BegunFileCalls take_begun(MPI_File file) noexcept;

}  // namespace penstock::interpose
