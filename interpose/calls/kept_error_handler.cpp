#include "interpose/calls/kept_error_handler.hpp"

#include <utility>

#include "interpose/calls/temporary_error_handler.hpp"

namespace penstock::interpose {
void KeptErrorHandler::take_from(MPI_Comm communicator) noexcept {
  drop();
  if (PMPI_Comm_get_errhandler(communicator, &handler_) != MPI_SUCCESS) handler_ = MPI_ERRHANDLER_NULL;
}

void KeptErrorHandler::drop() noexcept {
  MPI_Errhandler handler = std::exchange(handler_, MPI_ERRHANDLER_NULL);
  if (handler == MPI_ERRHANDLER_NULL) return;
  int is_finalized = 0;
  if (PMPI_Finalized(&is_finalized) == MPI_SUCCESS && is_finalized == 0) PMPI_Errhandler_free(&handler);
}

void KeptErrorHandler::call(int code) const {
  if (handler_ == MPI_ERRORS_RETURN) return;
  if (handler_ == MPI_ERRHANDLER_NULL) {
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
    return;
  }
  // MPI calls a handler only through a communicator that has it
  const TemporaryErrorHandler on_self(MPI_COMM_SELF, handler_);
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
}

}  // namespace penstock::interpose
