// Communicators for the messages of collectives that were made before anybody needs them, as a call that
// waits for nothing could not make one. The MPI library may run out of communicators, and no program may have
// fewer than without Penstock: then those that nobody has used yet are given back, and the call is made once
// more. Knows no collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/calls/errors.hpp"

namespace penstock::interpose {

struct CommunicatorInfo;

/// That info's `for_collectives` is one, from now on.
void note_spare(const std::shared_ptr<CommunicatorInfo>& info) noexcept;
/// It is none any more: it is used, or freed. No effect if it was none.
void forget_spare(const CommunicatorInfo& info) noexcept;
/// This rank or another one has given it back.
void free_given_back(CommunicatorInfo& info) noexcept;
/// None are made any more: the library had no communicators left.
[[nodiscard]] bool are_spares_wanted() noexcept;
/// The MPI library could make none for Penstock.
void note_shortage() noexcept;

/// Whatever goes wrong inside returns its code, and does not reach the communicator's error handler, which
/// may end the job.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm communicator) noexcept;
  ~ErrorsReturned();
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;
  /// That one was made from it inside, and has taken over how its errors go.
  void pass_on(MPI_Comm made) const noexcept;

 private:
  MPI_Comm communicator_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// All ranks of `parent` come to a call that makes a communicator, and all of them give back their spares if
/// they have to.
[[nodiscard]] bool may_give_back(MPI_Comm parent);
/// The call has returned that code. True if the library has no communicator left, which it says on all ranks
/// of the call: then spares have been given back, without waiting, as each rank may say of one that it shall
/// not be used.
[[nodiscard]] bool give_back_spares(int code) noexcept;

/// `call()`, which is collective over `parent`, and makes `*made`. Returns its code.
template <typename Call>
int make_communicator(MPI_Comm parent, const MPI_Comm* made, const Call& call) {
  if (!may_give_back(parent)) return call();
  int code = MPI_SUCCESS;
  {
    const ErrorsReturned errors_returned(parent);
    code = call();
    if (code == MPI_SUCCESS) errors_returned.pass_on(*made);
  }
  if (code == MPI_SUCCESS) return code;
  return give_back_spares(code) ? call() : raise(parent, code);
}

}  // namespace penstock::interpose
