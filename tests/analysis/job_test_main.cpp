#include "tests/analysis/job_test_main.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/support/gtest_exit_code.hpp"

namespace penstock::analysis {

std::string mpi_launch;
std::string family;
std::string program;
std::string penstock_command;

int exit_code_of(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace penstock::analysis

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 5) {
    return 2;
  }
  penstock::analysis::mpi_launch = argv[1];
  penstock::analysis::family = argv[2];
  penstock::analysis::program = argv[3];
  penstock::analysis::penstock_command = argv[4];
  return penstock::test_support::run_all_tests();
}
