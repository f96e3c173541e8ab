// Datatypes and operations that the program frees while a call that was put off still has to hand them to the
// MPI library. Knows no call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>

namespace penstock::interpose {

/// To be freed once all are gone who kept handles when the program freed it.
struct FreedHandle {
  std::uint64_t newest_keeper = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  MPI_Op operation = MPI_OP_NULL;
};

/// Until it ends, what the program frees stays valid. Thread: any.
class HandlesKept {
 public:
  HandlesKept();
  /// Frees what nobody needs since it has ended. That may call the program (who deletes attributes of
  /// datatypes), which may wait for other threads: not under a lock.
  ~HandlesKept();
  HandlesKept(const HandlesKept&) = delete;
  HandlesKept& operator=(const HandlesKept&) = delete;

  /// Frees nothing yet.
  void end() noexcept;

 private:
  std::uint64_t number_;
  std::list<FreedHandle> unneeded_;
};

/// The program frees a handle. True if somebody may need it: it is freed when nobody does any more. Cost: a
/// load, mostly. Thread: any.
[[nodiscard]] bool free_datatype_later(MPI_Datatype datatype);
[[nodiscard]] bool free_operation_later(MPI_Op operation);

}  // namespace penstock::interpose
