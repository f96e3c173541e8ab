// Raises the interposer's own MPI errors: through the error handler of the object of the call, as the MPI
// library would, with one line that describes the failure. Knows no protocol.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>

#include "transports/host/status.hpp"

namespace penstock::interpose {

/// Formats a failure of `what` as one line: "MPI_Send: cuMemcpyAsync failed (CUDA error 2)".
using Line = std::array<char, 256>;
[[nodiscard]] Line format_error(const char* what, const Status& status) noexcept;

/// A datatype whose constructor the MPI library does not report. Derived from std::bad_alloc, which all code
/// that makes layouts handles, so that it becomes an MPI error wherever it occurs.
class UnreadableDatatype final : public std::bad_alloc {
 public:
  /// `mpi_call` is a literal.
  UnreadableDatatype(const char* mpi_call, int code) noexcept : mpi_call_(mpi_call), code_(code) {}
  /// Returns the function that failed.
  [[nodiscard]] const char* what() const noexcept override { return mpi_call_; }
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  const char* mpi_call_;
  int code_;
};

struct CommunicatorInfo;

/// Prints a line for each recent refusal of the driver that makes payloads slower, though they arrive. Cost:
/// mostly two loads.
void say_what_was_refused() noexcept;
/// Prints a line on what was done without, as `status` says: "MPI_Win_allocate gives host memory: this rank
/// uses no GPU".
void notice_refusal(const char* consequence, const Status& status) noexcept;

/// The object whose error handler receives an error. A value. Each raise calls the handler (which may abort,
/// throw or return) and returns the code.
class ErrorTarget {
 public:
  /// Valid in the call that got the handle.
  [[nodiscard]] static ErrorTarget of(MPI_Comm communicator) noexcept;
  /// Valid even after the handle is freed. Null: MPI_COMM_WORLD.
  [[nodiscard]] static ErrorTarget of(std::shared_ptr<CommunicatorInfo> communicator) noexcept;
  [[nodiscard]] static ErrorTarget of_file(MPI_File file) noexcept;
  [[nodiscard]] static ErrorTarget of_window(MPI_Win window) noexcept;

  /// Returns the same target for use after the call, when the user may free the communicator and the MPI
  /// library may reuse its handle (not for files and windows).
  [[nodiscard]] ErrorTarget kept() const noexcept;

  int raise(int code) const;
  /// Prints "penstock: MPI_Win_attach: device buffers are not supported in this call", then raises
  /// MPI_ERR_BUFFER.
  int refuse_device_buffer(const char* mpi_call) const;
  /// Prints a line on what failed in `mpi_call`, then raises MPI_ERR_OTHER or the class that fits the status.
  int raise_status(const char* mpi_call, const Status& status) const;
  /// Raises MPI_ERR_BUFFER: the buffer of `mpi_call` was device memory and has been freed.
  int raise_freed(const char* mpi_call) const;

 private:
  enum class Kind : std::uint8_t { communicator, file, window };

  Kind kind_ = Kind::communicator;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::shared_ptr<CommunicatorInfo> kept_;  ///< replaces communicator_
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// Errors of messages.
int raise(MPI_Comm communicator, int code);
int raise_status(MPI_Comm communicator, const char* mpi_call, const Status& status);

/// Raises MPI_ERR_NO_MEM: memory for Penstock's own part of `mpi_call` ran out.
int raise_out_of_memory(MPI_Comm communicator, const char* mpi_call);

/// Raises the MPI library's own code.
int raise_unreadable(MPI_Comm communicator, const char* mpi_call, const UnreadableDatatype& datatype);

}  // namespace penstock::interpose

/// Follows a wrapper that is a function-try-block. Memory exhaustion and an unreadable datatype become MPI
/// errors. Any other exception comes from the application (an error handler may throw) and passes.
#define PENSTOCK_OUT_OF_MEMORY(communicator)                                          \
  catch (const penstock::interpose::UnreadableDatatype& unreadable) {                 \
    return penstock::interpose::raise_unreadable(communicator, __func__, unreadable); \
  }                                                                                   \
  catch (const std::bad_alloc&) {                                                     \
    return penstock::interpose::raise_out_of_memory(communicator, __func__);          \
  }
