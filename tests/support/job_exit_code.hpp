// With which code the ranks of a test's job end: all with the same. Of different ones mpiexec tells none
// reliably: MPICH's ends with the bits of all (1 and 77 are 77), Open MPI's with that of the rank that ends
// first.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

#include "tests/support/exit_code.hpp"

namespace penstock::test_support {

/// Before MPI_Finalize. `own`: 0, `skipped`, or whatever means failed. A failure on one rank counts more than
/// that the others skip. Collective over MPI_COMM_WORLD.
[[nodiscard]] inline int job_exit_code(int own) {
  constexpr std::array codes = {0, skipped, 1};
  const int severity = own == 0 ? 0 : own == skipped ? 1 : 2;
  int worst = 0;
  MPI_Allreduce(&severity, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return codes.at(static_cast<std::size_t>(worst));
}

}  // namespace penstock::test_support
