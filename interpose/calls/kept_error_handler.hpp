// The error handler that a communicator had when the user freed it. Pending work may still fail then, and MPI
// has no handle for the communicator any more. Knows nothing else of communicators.
#pragma once

#include <mpi.h>

namespace penstock::interpose {

/// Owns a reference to the handler. Thread: one at a time, except that several may call() it.
class KeptErrorHandler {
 public:
  KeptErrorHandler() = default;
  ~KeptErrorHandler() { drop(); }
  KeptErrorHandler(const KeptErrorHandler&) = delete;
  KeptErrorHandler& operator=(const KeptErrorHandler&) = delete;

  /// The handle must be valid.
  void take_from(MPI_Comm communicator) noexcept;
  void drop() noexcept;
  /// Calls the handler, which may abort, throw or return, with MPI_COMM_SELF. Without a handler, calls
  /// MPI_COMM_WORLD's, which receives errors that belong to no communicator.
  void call(int code) const;

 private:
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace penstock::interpose
