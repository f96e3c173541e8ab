// Datatypes and operations that the program frees while a call that was put off still has to hand them to the
// MPI library. Knows no call.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace penstock::interpose {

/// While it lives, what the program frees stays valid. Thread: any.
class HandlesKept {
 public:
  HandlesKept();
  ~HandlesKept();
  HandlesKept(const HandlesKept&) = delete;
  HandlesKept& operator=(const HandlesKept&) = delete;

 private:
  std::uint64_t number_;
};

/// The program frees a handle. True if somebody may need it: it is freed when nobody does any more. Cost: a
/// load, mostly. Thread: any.
[[nodiscard]] bool free_datatype_later(MPI_Datatype datatype);
[[nodiscard]] bool free_operation_later(MPI_Op operation);

}  // namespace penstock::interpose
