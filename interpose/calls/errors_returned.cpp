#include "interpose/calls/errors_returned.hpp"

#include "interpose/binding/mpi_binding.hpp"
#include "interpose/calls/quiet_errors.hpp"

namespace penstock::interpose {

ErrorsReturned::ErrorsReturned(MPI_Comm communicator) noexcept
    : communicator_(communicator), before_(exchange_error_handler(communicator, MPI_ERRORS_RETURN)) {}

ErrorsReturned::~ErrorsReturned() {
  if (before_ == MPI_ERRHANDLER_NULL) return;
  MPI_Errhandler temporary = exchange_error_handler(communicator_, before_);
  if (temporary != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&temporary);
  PMPI_Errhandler_free(&before_);
}

void ErrorsReturned::pass_on(MPI_Comm made) const noexcept {
  MPI_Errhandler inherited = MPI_ERRHANDLER_NULL;
  if (before_ == MPI_ERRHANDLER_NULL || made == MPI_COMM_NULL ||
      PMPI_Comm_get_errhandler(made, &inherited) != MPI_SUCCESS)
    return;
  if (inherited == MPI_ERRORS_RETURN) PMPI_Comm_set_errhandler(made, before_);
  PMPI_Errhandler_free(&inherited);
}

}  // namespace penstock::interpose
