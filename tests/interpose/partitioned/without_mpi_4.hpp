// The whole program where the MPI has no partitioned communication.
#pragma once

#include <mpi.h>

#include <cstdio>

#include "tests/support/exit_code.hpp"
#include "tests/support/job_exit_code.hpp"

namespace penstock::test_support {

/// Says so, on every rank. Returns the program's exit code.
inline int skip_without_mpi_4(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::puts("SKIPPED: this MPI has no partitioned communication");
  const int code = job_exit_code(skipped);
  MPI_Finalize();
  return code;
}

}  // namespace penstock::test_support
