// The main of tests of a job that say themselves when a GPU is first used.
#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/support/gtest_exit_code.hpp"
#include "tests/support/job_exit_code.hpp"

int main(int argument_count, char** arguments) {
  testing::InitGoogleTest(&argument_count, arguments);
  MPI_Init(&argument_count, &arguments);
  const int code = penstock::test_support::job_exit_code(penstock::test_support::run_all_tests());
  MPI_Finalize();
  return code;
}
