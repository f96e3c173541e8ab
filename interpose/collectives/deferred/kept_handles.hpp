// The program may free datatypes and operations that a deferred call still has to pass to the MPI library.
// This header keeps them valid for it, and knows no call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <vector>

namespace penstock::interpose {

/// A handle to free once all HandlesKept are gone that existed when the program freed it.
struct FreedHandle {
  std::uint64_t newest_keeper = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  MPI_Op operation = MPI_OP_NULL;
};

/// Keeps valid, until it ends, these datatypes and all operations that the program frees. Other datatypes are
/// freed at once: the program may expect that its functions that delete attributes are called. Thread: any.
class HandlesKept {
 public:
  explicit HandlesKept(std::vector<MPI_Datatype> datatypes);
  /// Frees handles that no call has needed since end(). That may call the program's functions that delete
  /// attributes of datatypes, which may wait for other threads: do not destroy it under a lock.
  ~HandlesKept();
  HandlesKept(const HandlesKept&) = delete;
  HandlesKept& operator=(const HandlesKept&) = delete;

  /// Frees nothing yet.
  void end() noexcept;

 private:
  std::uint64_t number_;
  std::list<FreedHandle> unneeded_;
};

/// Takes over a handle that the program frees. Returns true if a call may need it: it is then freed when none
/// does any more. Cost: mostly a load. Thread: any.
[[nodiscard]] bool free_datatype_later(MPI_Datatype datatype);
[[nodiscard]] bool free_operation_later(MPI_Op operation);

}  // namespace penstock::interpose
