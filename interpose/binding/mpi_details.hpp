// Small queries of MPI objects that several wrappers need, and the two forms (int and MPI_Count) of the calls
// that post messages. Knows no Penstock protocol.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>

namespace penstock::interpose {

/// Returns the bytes of a completed receive or probe. A count that does not fit an int gives the true 64-bit
/// value.
[[nodiscard]] inline std::uint64_t bytes_of(const MPI_Status& status) noexcept {
  int count = 0;
  if (PMPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count != MPI_UNDEFINED) {
    return static_cast<std::uint64_t>(count);
  }
  MPI_Count large = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &large);
  return large < 0 ? 0 : static_cast<std::uint64_t>(large);
}

/// Returns true if a collective call with this code was refused for its arguments, before it reached other
/// ranks.
[[nodiscard]] bool failed_alone(int code) noexcept;

/// Returns true if the operation whose request completed with this status was cancelled.
[[nodiscard]] inline bool was_cancelled(const MPI_Status& status) noexcept {
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

inline void set_bytes(MPI_Status& status, std::uint64_t bytes) noexcept {
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

/// Returns the bytes from one element to the next; 0 for MPI_DATATYPE_NULL, for which the MPI library would
/// raise an error here that does not reach the user's error handler.
[[nodiscard]] inline std::ptrdiff_t extent_of(MPI_Datatype datatype) noexcept {
  if (datatype == MPI_DATATYPE_NULL) return 0;
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  PMPI_Type_get_extent_x(datatype, &lower_bound, &extent);
  return extent;
}

/// Returns the payload's bytes; 0 for MPI_DATATYPE_NULL, as above.
[[nodiscard]] inline std::uint64_t payload_bytes(MPI_Count count, MPI_Datatype datatype) noexcept {
  if (datatype == MPI_DATATYPE_NULL) return 0;
  MPI_Count size = 0;
  PMPI_Type_size_x(datatype, &size);
  return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
}

/// Returns the status of a receive from MPI_PROC_NULL, of an inactive or a null request (MPI-4 §3.7.3,
/// §3.10).
[[nodiscard]] inline MPI_Status empty_status(int source = MPI_ANY_SOURCE, int tag = MPI_ANY_TAG) noexcept {
  MPI_Status status{};
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  status.MPI_ERROR = MPI_SUCCESS;
  set_bytes(status, 0);
  PMPI_Status_set_cancelled(&status, 0);
  return status;
}

/// Copies a status except its error field.
inline void copy_without_error(const MPI_Status& from, MPI_Status& to) noexcept {
  const int error = to.MPI_ERROR;
  to = from;
  to.MPI_ERROR = error;
}

/// Returns a status of our own to pass to the MPI library instead of the user's. Fields that the library does
/// not write must keep the user's values.
[[nodiscard]] inline MPI_Status local_copy_of(const MPI_Status* users) noexcept {
  return users == MPI_STATUS_IGNORE ? MPI_Status{} : *users;
}
/// The same for one of several; `users` may be MPI_STATUSES_IGNORE.
[[nodiscard]] inline MPI_Status local_copy_of_at(const MPI_Status* users, int index) noexcept {
  return users == MPI_STATUSES_IGNORE ? MPI_Status{} : users[index];
}

/// Copies the status of a call that completes or finds one operation. Such calls leave MPI_ERROR unchanged
/// (MPI-4.0 §3.2.5), which not all calls of MPI libraries do (MPICH's probes).
inline void copy_status(const MPI_Status& from, MPI_Status* to) noexcept {
  if (to != MPI_STATUS_IGNORE) copy_without_error(from, *to);
}

enum class SendMode : unsigned char { standard, synchronous, buffered, ready };

/// Posts with a 64-bit count by the call that takes it. If the MPI library has no large counts, a `count`
/// above INT_MAX must be of MPI_BYTE; otherwise returns MPI_ERR_COUNT.
int pmpi_isend(SendMode mode, const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination,
               int tag, MPI_Comm communicator, MPI_Request* request);
int pmpi_irecv(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
               MPI_Comm communicator, MPI_Request* request);
int pmpi_imrecv(void* buffer, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                MPI_Request* request);

}  // namespace penstock::interpose
