#include "interpose/progress/tokens.hpp"

#include "interpose/binding/function_names.hpp"
#include "interpose/binding/mpi_binding.hpp"
#include "interpose/binding/mpi_level.hpp"

namespace penstock::interpose {
namespace {

// A token has no state of its own: completion calls find its entry in the request table.
int query_token(void* /*state*/, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int free_token(void* /*state*/) {
  return MPI_SUCCESS;
}
int cancel_token(void* /*state*/, int /*complete*/) {
  return MPI_SUCCESS;
}

/// Fortran bindings of Open MPI 5 write into the request that a non-blocking collective with arrays returns,
/// unless it is complete, as if it were the library's own: behind the end of a generalised request. A
/// persistent collective that is never started counts as complete.
bool are_persistent_collectives() noexcept {
#if defined(OPEN_MPI) && PENSTOCK_HAS_MPI_4
  return has_function(Function::Barrier_init);
#else
  return false;
#endif
}

}  // namespace

MPI_Request make_token() noexcept {
  MPI_Request token = MPI_REQUEST_NULL;
#if defined(OPEN_MPI) && PENSTOCK_HAS_MPI_4
  if (are_persistent_collectives())
    return PMPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &token) == MPI_SUCCESS ? token : MPI_REQUEST_NULL;
#endif
  return PMPI_Grequest_start(query_token, free_token, cancel_token, nullptr, &token) == MPI_SUCCESS
             ? token
             : MPI_REQUEST_NULL;
}

void end_token(MPI_Request token) noexcept {
  if (!are_persistent_collectives()) PMPI_Grequest_complete(token);
  PMPI_Request_free(&token);
}

}  // namespace penstock::interpose
