// A program that says that it is skipped, and ends as its arguments say: what the outcome is on rank 0, and
// on the other ranks.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/job_exit_code.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::puts("SKIPPED: says a program");
  const int code = penstock::test_support::job_exit_code(argc == 3 ? std::atoi(argv[rank == 0 ? 1 : 2]) : 1);
  MPI_Finalize();
  return code;
}
