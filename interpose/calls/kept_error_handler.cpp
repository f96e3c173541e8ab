#include "interpose/calls/kept_error_handler.hpp"

#include <utility>

#include "interpose/calls/quiet_errors.hpp"

namespace penstock::interpose {
namespace {

/// Sets a handler on MPI_COMM_SELF for a while, as MPI calls handlers only through a communicator that has
/// them.
class OnSelf {
 public:
  explicit OnSelf(MPI_Errhandler handler) noexcept
      : before_(exchange_error_handler(MPI_COMM_SELF, handler)) {}
  ~OnSelf() {
    if (before_ == MPI_ERRHANDLER_NULL) return;
    MPI_Errhandler shown = exchange_error_handler(MPI_COMM_SELF, before_);
    if (shown != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&shown);
    PMPI_Errhandler_free(&before_);
  }
  OnSelf(const OnSelf&) = delete;
  OnSelf& operator=(const OnSelf&) = delete;

 private:
  MPI_Errhandler before_;
};

}  // namespace

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
  const OnSelf on_self(handler_);
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
}

}  // namespace penstock::interpose
