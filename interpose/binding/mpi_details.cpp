#include "interpose/binding/mpi_details.hpp"

#include <algorithm>
#include <array>

#include "interpose/binding/byte_datatype.hpp"
#include "interpose/binding/function_names.hpp"
#include "interpose/binding/mpi_binding.hpp"

namespace penstock::interpose {
namespace {

/// Calls `post(count, datatype)` with a count that an int holds.
template <typename Post>
int with_int_count(MPI_Count count, MPI_Datatype datatype, Post post) {
  if (count <= INT_MAX) return post(static_cast<int>(count), datatype);
  if (datatype != MPI_BYTE) return MPI_ERR_COUNT;
  const ByteDatatype large(count);
  return large.code() == MPI_SUCCESS ? post(1, large.get()) : large.code();
}

#if PENSTOCK_HAS_LARGE_COUNTS
/// Returns true if the count needs a function with large counts, and the library has it.
bool needs_and_has(MPI_Count count, Function function) noexcept {
  return count > INT_MAX && has_function(function);
}
#endif

/// The non-blocking sends of a mode: for counts that fit an int, and for larger ones.
struct Sends {
  decltype(&PMPI_Isend) send;
#if PENSTOCK_HAS_LARGE_COUNTS
  decltype(&PMPI_Isend_c) send_large;
  Function name_of_large;
#endif
};

Sends sends_of(SendMode mode) noexcept {
#if PENSTOCK_HAS_LARGE_COUNTS
#define PENSTOCK_SENDS_OF(Name)                      \
  Sends {                                            \
    PMPI_##Name, PMPI_##Name##_c, Function::Name##_c \
  }
#else
#define PENSTOCK_SENDS_OF(Name) \
  Sends {                       \
    PMPI_##Name                 \
  }
#endif
  switch (mode) {
    case SendMode::synchronous:
      return PENSTOCK_SENDS_OF(Issend);
    case SendMode::buffered:
      return PENSTOCK_SENDS_OF(Ibsend);
    case SendMode::ready:
      return PENSTOCK_SENDS_OF(Irsend);
    case SendMode::standard:
      break;
  }
  return PENSTOCK_SENDS_OF(Isend);
#undef PENSTOCK_SENDS_OF
}

}  // namespace

int pmpi_isend(SendMode mode, const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination,
               int tag, MPI_Comm communicator, MPI_Request* request) {
  const Sends sends = sends_of(mode);
#if PENSTOCK_HAS_LARGE_COUNTS
  if (needs_and_has(count, sends.name_of_large))
    return sends.send_large(buffer, count, datatype, destination, tag, communicator, request);
#endif
  return with_int_count(count, datatype, [&](int small_count, MPI_Datatype type) {
    return sends.send(buffer, small_count, type, destination, tag, communicator, request);
  });
}

int pmpi_irecv(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
               MPI_Comm communicator, MPI_Request* request) {
#if PENSTOCK_HAS_LARGE_COUNTS
  if (needs_and_has(count, Function::Irecv_c))
    return PMPI_Irecv_c(buffer, count, datatype, source, tag, communicator, request);
#endif
  return with_int_count(count, datatype, [&](int small_count, MPI_Datatype type) {
    return PMPI_Irecv(buffer, small_count, type, source, tag, communicator, request);
  });
}

int pmpi_imrecv(void* buffer, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                MPI_Request* request) {
#if PENSTOCK_HAS_LARGE_COUNTS
  if (needs_and_has(count, Function::Imrecv_c))
    return PMPI_Imrecv_c(buffer, count, datatype, message, request);
#endif
  return with_int_count(count, datatype, [&](int small_count, MPI_Datatype type) {
    return PMPI_Imrecv(buffer, small_count, type, message, request);
  });
}

bool failed_alone(int code) noexcept {
  if (code == MPI_SUCCESS) return false;
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  constexpr std::array of_arguments = {MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE,  MPI_ERR_COMM,
                                       MPI_ERR_ROOT,   MPI_ERR_GROUP, MPI_ERR_OP,    MPI_ERR_TOPOLOGY,
                                       MPI_ERR_DIMS,   MPI_ERR_ARG,   MPI_ERR_AMODE, MPI_ERR_FILE,
                                       MPI_ERR_WIN,    MPI_ERR_ASSERT};
  return std::ranges::find(of_arguments, error_class) != of_arguments.end();
}

}  // namespace penstock::interpose
