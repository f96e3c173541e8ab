// The frame of a benchmark program of two ranks: its command line, and who does what. Knows no benchmark.
#pragma once

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "tests/benchmarks/framework.hpp"
#include "tests/benchmarks/two_ranks.hpp"

namespace penstock::benchmarks {

/// Parses the command line, Google Benchmark's options and --facts included. The exit code if there is no
/// more to do; rank 0 then has said why.
[[nodiscard]] inline std::optional<int> parse(CLI::App& app, std::string& facts_path, int rank, int argc,
                                              char** argv) {
  app.allow_extras();
  app.footer("And Google Benchmark's options: --benchmark_filter=REGEX, --benchmark_out=FILE, …");
  app.add_option("--facts", facts_path, "JSON object to put beside the figures (date, GPU, …)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return rank == leader ? app.exit(error) : error.get_exit_code();
  }
  return std::nullopt;
}

/// Rank 0 runs the benchmarks, which call perform() of its `mine`; rank 1 performs what it is told. A default
/// `Work` is the last. Returns the exit code.
template <class Work, class Rank, class RunBenchmarks>
int conduct(Rank& mine, int rank, const CLI::App& app, const std::string& facts_path,
            RunBenchmarks run_benchmarks) {
  if (rank == follower) {
    follow<Work>([&](const Work& work) {
      mine.perform(work);
      return work != Work{};
    });
    return 0;
  }
  const bool started = start_framework(app.remaining(), facts_path);
  if (started) run_benchmarks();
  mine.perform(Work{});
  return started ? 0 : 1;
}

/// main(): `run(rank, argc, argv)` between MPI_Init and MPI_Finalize.
template <class Run>
int program_of_two(const char* name, int argc, char** argv, Run run) {
  MPI_Init(&argc, &argv);
  const int rank = rank_of_two(name);
  const int exit_code = rank < 0 ? 2 : run(rank, argc, argv);
  MPI_Finalize();
  return exit_code;
}

}  // namespace penstock::benchmarks
