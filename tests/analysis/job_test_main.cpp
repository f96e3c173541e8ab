#include "tests/analysis/job_test_main.hpp"

#include <gtest/gtest.h>

#include "tests/support/gtest_exit_code.hpp"

namespace penstock::analysis {

std::string mpi_launch;
std::string family;
std::string program;
std::string penstock_command;

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
