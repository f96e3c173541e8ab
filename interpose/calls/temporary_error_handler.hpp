// Sets another error handler on a communicator for a while. Knows no purpose of it.
#pragma once

#include <mpi.h>

namespace penstock::interpose {

/// Has a communicator's errors go to `handler` inside its scope. MPI_ERRORS_RETURN makes calls return their
/// code where Penstock can do without what fails, and the program's handler, which may end the job, is not
/// called.
class TemporaryErrorHandler {
 public:
  TemporaryErrorHandler(MPI_Comm communicator, MPI_Errhandler handler) noexcept;
  ~TemporaryErrorHandler();
  TemporaryErrorHandler(const TemporaryErrorHandler&) = delete;
  TemporaryErrorHandler& operator=(const TemporaryErrorHandler&) = delete;
  /// Returns false if the program's handler could not be found, and stays.
  [[nodiscard]] bool is_set() const noexcept { return before_ != MPI_ERRHANDLER_NULL; }
  /// Gives the program's handler to a communicator that was made from this one inside the scope and has
  /// inherited the temporary one.
  void pass_on(MPI_Comm made) const noexcept;

 private:
  MPI_Comm communicator_;
  MPI_Errhandler handler_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace penstock::interpose
