// Has errors on a communicator returned for a while, where Penstock calls the MPI library for a purpose of
// its own and can do without what fails. Knows no such purpose.
#pragma once

#include <mpi.h>

namespace penstock::interpose {

/// Makes errors inside its scope return their code. The communicator's error handler, which may end the job,
/// is not called.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm communicator) noexcept;
  ~ErrorsReturned();
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;
  /// Returns false if the program's handler could not be found, and stays.
  [[nodiscard]] bool are_returned() const noexcept { return before_ != MPI_ERRHANDLER_NULL; }
  /// Gives the error handler on to a communicator that was made from it inside and has inherited the
  /// temporary one.
  void pass_on(MPI_Comm made) const noexcept;

 private:
  MPI_Comm communicator_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace penstock::interpose
