// How the interposer raises an MPI error of its own: through the error handler of what the call was made on,
// as the MPI library would, with one line that says what happened. Knows no protocol.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>

#include "transports/host/status.hpp"

namespace penstock::interpose {

/// "MPI_Send: cuMemcpyAsync failed (CUDA error 2)": what failed in `what`, as one line of text.
using Line = std::array<char, 256>;
[[nodiscard]] Line describe(const char* what, const Status& status) noexcept;

/// A datatype whose constructor the MPI library does not tell. Derived from the error that everything which
/// makes layouts is ready for, so that it ends in an MPI error wherever it comes up.
class UnreadableDatatype final : public std::bad_alloc {
 public:
  /// `mpi_call` is a literal.
  UnreadableDatatype(const char* mpi_call, int code) noexcept : mpi_call_(mpi_call), code_(code) {}
  /// The function that failed.
  [[nodiscard]] const char* what() const noexcept override { return mpi_call_; }
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  const char* mpi_call_;
  int code_;
};

struct CommunicatorInfo;

/// Says on one line each what the driver has refused of late that makes payloads slower, though they arrive.
/// Cost: two loads, mostly.
void say_what_was_refused() noexcept;

/// Whose error handler hears of an error. A value. Each raise calls the handler (which may abort, throw or
/// return) and returns the code.
class ErrorTarget {
 public:
  /// Valid in the call that was given the handle.
  [[nodiscard]] static ErrorTarget of(MPI_Comm communicator) noexcept;
  /// Valid whatever becomes of the handle. Null: MPI_COMM_WORLD.
  [[nodiscard]] static ErrorTarget of(std::shared_ptr<CommunicatorInfo> communicator) noexcept;
  [[nodiscard]] static ErrorTarget of_file(MPI_File file) noexcept;
  [[nodiscard]] static ErrorTarget of_window(MPI_Win window) noexcept;

  /// The same target, for what outlives the call: the user may then free the communicator (files and windows
  /// not), and the MPI library gives its handle out anew.
  [[nodiscard]] ErrorTarget kept() const noexcept;

  int raise(int code) const;
  /// "penstock: MPI_Put: device buffers are not supported in this call", then raise(MPI_ERR_BUFFER).
  int refuse_device_buffer(const char* mpi_call) const;
  /// Says on one line what failed in `mpi_call`, then raise(MPI_ERR_OTHER or the class that fits the status).
  int raise_status(const char* mpi_call, const Status& status) const;
  /// The buffer of `mpi_call` was device memory and has been freed: MPI_ERR_BUFFER.
  int raise_freed(const char* mpi_call) const;

 private:
  enum class Kind : std::uint8_t { communicator, file, window };

  Kind kind_ = Kind::communicator;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::shared_ptr<CommunicatorInfo> kept_;  ///< in its place
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// Errors of messages.
int raise(MPI_Comm communicator, int code);
int raise_status(MPI_Comm communicator, const char* mpi_call, const Status& status);

/// Memory for Penstock's own part of `mpi_call` ran out: MPI_ERR_NO_MEM.
int raise_out_of_memory(MPI_Comm communicator, const char* mpi_call);

/// The code is the MPI library's own.
int raise_unreadable(MPI_Comm communicator, const char* mpi_call, const UnreadableDatatype& datatype);

}  // namespace penstock::interpose

/// Behind a wrapper that is a function-try-block. Memory that runs out is an MPI error, and so is a datatype
/// that cannot be read; any other exception comes from the application (an error handler may throw) and
/// passes.
#define PENSTOCK_OUT_OF_MEMORY(communicator)                                          \
  catch (const penstock::interpose::UnreadableDatatype& unreadable) {                 \
    return penstock::interpose::raise_unreadable(communicator, __func__, unreadable); \
  }                                                                                   \
  catch (const std::bad_alloc&) {                                                     \
    return penstock::interpose::raise_out_of_memory(communicator, __func__);          \
  }
