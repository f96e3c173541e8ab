// Hides errors from the program's error handlers while Penstock tests or completes the program's requests.
// The call that an error belongs to raises it, once. MPICH raises errors of all functions that test requests
// on MPI_COMM_WORLD (4.0) or MPI_COMM_SELF (4.2), whatever communicator the request belongs to. Open MPI
// raises them on that communicator, and only where the request ends. Knows nothing of what Penstock does
// for a request.
#pragma once

#include <mpi.h>

#include <atomic>

#include "interpose/binding/mpi_level.hpp"
#include "interpose/calls/errors.hpp"

namespace penstock::interpose {

/// Another communicator than the request's; behind the standard ABI may be either library.
inline constexpr bool library_raises_on_none = mpi_family != MpiFamily::open_mpi;

namespace detail {
/// The program has set an error handler, and that of MPI_COMM_WORLD, or its own of MPI_COMM_SELF, does more
/// than return.
inline constinit std::atomic<bool> program_may_hear{false};
}  // namespace detail

/// While an object exists, errors that the MPI library raises on MPI_COMM_WORLD or MPI_COMM_SELF in this
/// thread call no handler of the program. Thread: any. Cost: a load, until the program sets an error handler.
class QuietErrors {
 public:
  QuietErrors() noexcept {
    if constexpr (library_raises_on_none) {
      if (detail::program_may_hear.load(std::memory_order_relaxed)) [[unlikely]]
        begin();
    }
  }
  ~QuietErrors() {
    if (is_begun_) [[unlikely]]
      end();
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  /// Returns true if there is a handler that might be called.
  [[nodiscard]] bool hides() const noexcept { return is_begun_; }

  /// Ends the quiet in this thread for a call of the program's inside of one that hides errors: the MPI
  /// library runs a function of the program's there. Returns what restore() needs afterwards.
  [[nodiscard]] static unsigned suspend() noexcept;
  static void restore(unsigned suspended) noexcept;

 private:
  void begin() noexcept;
  static void end() noexcept;

  bool is_begun_ = false;
};

/// Completes a request under QuietErrors, as PMPI_Wait does. PMPI_Wait and PMPI_Test of MPICH 4.2 raise
/// errors on the request's communicator, which is not hidden; those of several requests do not.
inline int wait_quietly(MPI_Request* request, MPI_Status* status) noexcept {
  const QuietErrors quiet;
  if (!quiet.hides()) [[likely]]
    return PMPI_Wait(request, status);
  int index = 0;
  return PMPI_Waitany(1, request, &index, status);
}
/// Tests a request likewise, as PMPI_Test does.
inline int test_quietly(MPI_Request* request, int* flag, MPI_Status* status) noexcept {
  const QuietErrors quiet;
  if (!quiet.hides()) [[likely]]
    return PMPI_Test(request, flag, status);
  int index = 0;
  return PMPI_Testany(1, request, &index, flag, status);
}

/// Raises the `code` of a request that was completed under QuietErrors, unless the MPI library has done so.
/// Returns the code.
inline int raise_quieted(const ErrorTarget& errors, int code) {
  return library_raises_on_none && code != MPI_SUCCESS ? errors.raise(code) : code;
}
inline int raise_quieted(MPI_Comm communicator, int code) {
  return raise_quieted(ErrorTarget::of(communicator), code);
}

/// Sets a communicator's error handler by `set`, a function of the MPI library; returns its code. After
/// MPI_Init.
int set_error_handler(MPI_Comm communicator, MPI_Errhandler handler, int (*set)(MPI_Comm, MPI_Errhandler));
/// Makes one by `make`, and notes its function.
int make_error_handler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler,
                       int (*make)(MPI_Comm_errhandler_function*, MPI_Errhandler*)) noexcept;
/// Gets a communicator's likewise by `get`: the program's, whichever is set.
int get_error_handler(MPI_Comm communicator, MPI_Errhandler* handler, int (*get)(MPI_Comm, MPI_Errhandler*));
/// Sets another handler on a communicator for a while, and returns the program's, which the caller owns and
/// sets again in the same way; null: it cannot be told, and is left. Thread: any.
MPI_Errhandler exchange_error_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept;
/// Records that the program has made communicators with an error handler of its own.
void note_error_handlers() noexcept;

}  // namespace penstock::interpose
