// Hides errors from the program's error handlers while Penstock tests or completes the program's requests.
// The call that an error belongs to raises it, once. MPICH 4.0 raises errors of all functions that test
// requests on MPI_COMM_WORLD, whatever communicator the request belongs to. Open MPI raises them on that
// communicator, and only where the request ends. Knows no requests.
#pragma once

#include <mpi.h>

#include <atomic>

#include "interpose/calls/errors.hpp"

namespace penstock::interpose {

#ifdef OPEN_MPI
inline constexpr bool library_raises_on_world = false;
#else
inline constexpr bool library_raises_on_world = true;
#endif

namespace detail {
/// The program has set an error handler, and that of MPI_COMM_WORLD does more than return.
inline constinit std::atomic<bool> world_may_hear{false};
}  // namespace detail

/// While an object exists, errors that the MPI library raises on MPI_COMM_WORLD in this thread call no
/// handler of the program. Must not exist while the program's code runs. Thread: any. Cost: a load, until the
/// program sets an error handler.
class QuietErrors {
 public:
  QuietErrors() noexcept {
    if constexpr (library_raises_on_world) {
      if (detail::world_may_hear.load(std::memory_order_relaxed)) [[unlikely]]
        begin();
    }
  }
  ~QuietErrors() {
    if (is_begun_) [[unlikely]]
      end();
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  void begin() noexcept;
  static void end() noexcept;

  bool is_begun_ = false;
};

/// Raises the `code` of a request that was completed under QuietErrors, unless the MPI library has done so.
/// Returns the code.
inline int raise_quieted(const ErrorTarget& errors, int code) {
  return library_raises_on_world && code != MPI_SUCCESS ? errors.raise(code) : code;
}
inline int raise_quieted(MPI_Comm communicator, int code) {
  return raise_quieted(ErrorTarget::of(communicator), code);
}

/// Sets a communicator's error handler by `set`, a function of the MPI library; returns its code. After
/// MPI_Init.
int set_error_handler(MPI_Comm communicator, MPI_Errhandler handler, int (*set)(MPI_Comm, MPI_Errhandler));
/// Records that the program has made communicators with an error handler of its own.
void note_error_handlers() noexcept;

}  // namespace penstock::interpose
