// Small questions about MPI objects that several wrappers ask, and the two spellings (int and MPI_Count) of
// the calls that post messages. Knows no Penstock protocol.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>

namespace penstock::interpose {

/// Bytes that a completed receive or probe tells. A count that does not fit gives the true 64-bit value.
[[nodiscard]] inline std::uint64_t bytes_of(const MPI_Status& status) noexcept {
  int count = 0;
  if (PMPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count != MPI_UNDEFINED) {
    return static_cast<std::uint64_t>(count);
  }
  MPI_Count large = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &large);
  return large < 0 ? 0 : static_cast<std::uint64_t>(large);
}

/// A call that several ranks make together returned this code: was it refused for its arguments, before it
/// came to the others?
[[nodiscard]] bool failed_alone(int code) noexcept;

/// Whether the operation was cancelled whose request completed with this status.
[[nodiscard]] inline bool was_cancelled(const MPI_Status& status) noexcept {
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

inline void set_bytes(MPI_Status& status, std::uint64_t bytes) noexcept {
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

/// Bytes from one element to the next; 0 of no datatype, which the MPI library would take amiss here, and not
/// where the user's error handler hears of it.
[[nodiscard]] inline std::ptrdiff_t extent_of(MPI_Datatype datatype) noexcept {
  if (datatype == MPI_DATATYPE_NULL) return 0;
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  PMPI_Type_get_extent_x(datatype, &lower_bound, &extent);
  return extent;
}

/// The same of no datatype.
[[nodiscard]] inline std::uint64_t payload_bytes(MPI_Count count, MPI_Datatype datatype) noexcept {
  if (datatype == MPI_DATATYPE_NULL) return 0;
  MPI_Count size = 0;
  PMPI_Type_size_x(datatype, &size);
  return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
}

/// The status of a receive from MPI_PROC_NULL, of an inactive or a null request (MPI-4 §3.7.3, §3.10).
[[nodiscard]] inline MPI_Status empty_status(int source = MPI_ANY_SOURCE, int tag = MPI_ANY_TAG) noexcept {
  MPI_Status status{};
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  status.MPI_ERROR = MPI_SUCCESS;
  set_bytes(status, 0);
  PMPI_Status_set_cancelled(&status, 0);
  return status;
}

/// All of a status but its error field.
inline void copy_without_error(const MPI_Status& from, MPI_Status& to) noexcept {
  const int error = to.MPI_ERROR;
  to = from;
  to.MPI_ERROR = error;
}

/// A status of our own to hand to the MPI library in place of the user's: what the library leaves as it was
/// must come out as the user had it.
[[nodiscard]] inline MPI_Status local_copy_of(const MPI_Status* users) noexcept {
  return users == MPI_STATUS_IGNORE ? MPI_Status{} : *users;
}

/// From a call that completes or finds one operation: these leave MPI_ERROR as it was (MPI-4.0 §3.2.5), which
/// not all calls of MPI libraries do (MPICH's probes).
inline void hand_out(const MPI_Status& from, MPI_Status* to) noexcept {
  if (to != MPI_STATUS_IGNORE) copy_without_error(from, *to);
}

enum class SendMode : unsigned char { standard, synchronous, buffered, ready };

/// Posts with a 64-bit count by whichever call takes it. Where the MPI has no large counts, `count` came from
/// an int, or is a number of bytes below 2 GiB, or is cut into elements of 1 GiB by the caller's datatype.
int pmpi_isend(SendMode mode, const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination,
               int tag, MPI_Comm communicator, MPI_Request* request);
int pmpi_irecv(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
               MPI_Comm communicator, MPI_Request* request);
int pmpi_imrecv(void* buffer, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                MPI_Request* request);

}  // namespace penstock::interpose
