// What main() of the examples has in common. Knows no option.
#pragma once

#include <mpi.h>

namespace example {

/// Runs a program on the ranks of MPI_COMM_WORLD, and returns its exit code. `read_options(argc, argv, rank,
/// rank_count, exit_code)` returns the options, or none if the program is to end at once with that code;
/// `run(options, rank, rank_count)` returns the exit code.
template <typename ReadOptions, typename Run>
[[nodiscard]] int run_program(int argc, char** argv, ReadOptions read_options, Run run) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int rank_count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  int exit_code = 0;
  if (const auto options = read_options(argc, argv, rank, rank_count, exit_code)) {
    exit_code = run(*options, rank, rank_count);
  }
  MPI_Finalize();
  return exit_code;
}

}  // namespace example
