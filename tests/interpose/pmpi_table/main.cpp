// Changes the table as the arguments say, and runs the tests between MPI_Init and MPI_Finalize.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <string_view>

#include "interpose/binding/mpi_binding.hpp"
#include "tests/interpose/pmpi_table/replaced_functions.hpp"
#include "tests/support/gtest_exit_code.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/watchdog.hpp"

int main(int argument_count, char** arguments) {
  testing::InitGoogleTest(&argument_count, arguments);
  if (penstock::interpose::bind_mpi() != penstock::interpose::Binding::bound) return 1;
  bool stands_aside = false;
  for (int i = 1; i < argument_count; ++i) {
    const std::string_view argument = arguments[i];
    const std::string_view name = argument.substr(argument.find('=') + 1);
    bool is_known = false;
    if (argument == "--without=large_counts") {
      penstock::test::make_large_counts_missing();
      is_known = true;
    } else if (argument.starts_with("--without=")) {
      is_known = stands_aside = penstock::test::make_missing(name);
    } else if (argument.starts_with("--failing=")) {
      is_known = penstock::test::make_failing(name);
    }
    if (!is_known) {
      std::printf("what is %s?\n", arguments[i]);
      return 2;
    }
  }
  if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) return 3;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  penstock::test_support::watch(0, 60);
  int code = 0;
  if (penstock::test_support::gpu_count() == 0) {
    std::puts("SKIPPED: no GPU");
    code = penstock::test_support::skipped;
  } else {
    // those of a library that stands aside would fail where it does not
    if (!stands_aside) testing::GTEST_FLAG(filter) += "-StandsAside.*";
    code = penstock::test_support::run_all_tests();
  }
  MPI_Finalize();
  return code;
}
