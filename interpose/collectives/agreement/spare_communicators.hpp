// Communicators for the messages of collectives are made ahead, as a non-blocking call could not make one.
// The MPI library may run out of communicators, and no program may have fewer than without Penstock: then
// unused spares are given back, and the call is repeated. This header knows no collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/calls/errors.hpp"
#include "interpose/calls/temporary_error_handler.hpp"
#include "interpose/progress/request_table.hpp"

namespace penstock::interpose {

struct CommunicatorInfo;

/// Notes that that info's `for_collectives` is a spare from now on.
void note_spare(const std::shared_ptr<CommunicatorInfo>& info) noexcept;
/// Notes that it is a spare no more, as it is used or freed. No effect if it was none.
void forget_spare(const CommunicatorInfo& info) noexcept;
/// Frees a spare that this rank or another one has given back.
void free_given_back(CommunicatorInfo& info) noexcept;
/// Returns whether another spare may be made: false once the library has had no communicators left.
[[nodiscard]] bool are_spares_wanted() noexcept;
/// Notes that the MPI library could make no communicator for Penstock.
void note_shortage() noexcept;

/// Returns whether all ranks of `parent`, which call a function that makes a communicator, can give back
/// their spares.
[[nodiscard]] bool may_give_back(MPI_Comm parent);
/// Gives spares back if `code`, the result of the call, means that the library has no communicator left; all
/// ranks of the call then get that code. Returns true if so. Does not wait: each rank may decide that a spare
/// will not be used.
[[nodiscard]] bool give_back_spares(int code) noexcept;

/// Runs `call()`, which is collective over `parent` and makes `*made`. Returns its code. Where other threads
/// may be in MPI, no spares are given back: errors of theirs on `parent` go to its handler.
template <typename Call>
int make_communicator(MPI_Comm parent, const MPI_Comm* made, const Call& call) {
  if (request_table().is_threaded() || !may_give_back(parent)) return call();
  int code = MPI_SUCCESS;
  {
    const TemporaryErrorHandler errors_returned(parent, MPI_ERRORS_RETURN);
    code = call();
    if (code == MPI_SUCCESS) errors_returned.pass_on(*made);
  }
  if (code == MPI_SUCCESS) return code;
  return give_back_spares(code) ? call() : raise(parent, code);
}

}  // namespace penstock::interpose
