#include "interpose/calls/temporary_error_handler.hpp"

#include "interpose/binding/mpi_binding.hpp"
#include "interpose/calls/quiet_errors.hpp"

namespace penstock::interpose {

TemporaryErrorHandler::TemporaryErrorHandler(MPI_Comm communicator, MPI_Errhandler handler) noexcept
    : communicator_(communicator),
      handler_(handler),
      before_(exchange_error_handler(communicator, handler)) {}

TemporaryErrorHandler::~TemporaryErrorHandler() {
  if (!is_set()) return;
  MPI_Errhandler temporary = exchange_error_handler(communicator_, before_);
  if (temporary != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&temporary);
  PMPI_Errhandler_free(&before_);
}

void TemporaryErrorHandler::pass_on(MPI_Comm made) const noexcept {
  MPI_Errhandler inherited = MPI_ERRHANDLER_NULL;
  if (!is_set() || made == MPI_COMM_NULL || PMPI_Comm_get_errhandler(made, &inherited) != MPI_SUCCESS) return;
  if (inherited == handler_) PMPI_Comm_set_errhandler(made, before_);
  PMPI_Errhandler_free(&inherited);
}

}  // namespace penstock::interpose
