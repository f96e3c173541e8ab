// Differential random programs: many seeds in one launch, each a program that is run on MPI. What its ranks
// see is written down by a plain run on host memory and compared by a run under Penstock on memory of every
// kind.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/differential/arenas.hpp"
#include "tests/differential/executor.hpp"
#include "tests/differential/generator.hpp"
#include "tests/differential/launch_checks.hpp"
#include "tests/support/seed_of_today.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using namespace penstock;
using differential::Program;

struct Options {
  std::string plain_file;
  std::string check_file;
  std::uint64_t first = 1;
  std::uint64_t seeds = 60;
  bool host_only = false;
  bool persistent_collectives = false;
  bool nonblocking_collectives = false;
  bool posted = false;
  std::uint64_t skip = 0;
  int communicators = 0;
  std::vector<std::string> without;
};

differential::Families families_of(const Options& options) {
  differential::Families families;
#ifdef OPEN_MPI
  // Its non-blocking exchanges (4.1) fail with absolute types, on host memory too. Gather and Scatter with
  // other roots than 0, Allgather, and Alltoall in place allocate the whole distance between the blocks.
  families.absolute_everywhere = false;
#endif
  const auto leave_out = [&](const char* name, bool& family) {
    family = std::find(options.without.begin(), options.without.end(), name) == options.without.end();
  };
  leave_out("early", families.early);
  leave_out("absolute", families.absolute);
  leave_out("empty", families.empty);
  leave_out("freed", families.freed);
  leave_out("errors", families.errors);
  leave_out("finalize", families.finalize);
  leave_out("callbacks", families.callbacks);
  return families;
}

/// The ranks of a plain run take rank 0's: they may read the date on both sides of midnight.
std::uint64_t seed_of_rank_0(std::uint64_t seed) {
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return seed;
}

struct PlainProgram {
  std::uint64_t seed = 0;
  std::size_t lines = 0;
};

/// Reads the line that is above those of each program of a plain run; false if there is none.
bool read_header(std::ifstream& plain, PlainProgram& program) {
  std::string word;
  return static_cast<bool>(plain >> word >> program.seed >> program.lines >> std::ws) && word == "seed";
}

/// A checked run repeats what the plain run did, whatever day it is meanwhile. 0 if there was no plain run.
std::uint64_t first_seed_in(std::ifstream& plain) {
  PlainProgram first;
  if (!read_header(plain, first)) return 0;
  plain.seekg(0);
  return first.seed;
}

/// Waits for all ranks, those that the program left out too, without taking the others' cores meanwhile.
void meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int flag = 0; flag == 0; std::this_thread::sleep_for(std::chrono::microseconds(100))) {
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
}

/// What the run sees on this rank; empty if the program leaves the rank out.
std::vector<std::string> run_program(const Program& program, bool host_only, differential::Forms forms) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < program.ranks ? 0 : MPI_UNDEFINED, rank, &world);
  if (world == MPI_COMM_NULL) return {};
  std::vector<std::string> lines;
  {
    differential::Arenas arenas(program, rank, host_only);
    differential::Executor executor(program, world, arenas, forms);
    executor.run();
    lines = executor.tell();
  }
  MPI_Comm_free(&world);
  return lines;
}

/// The operation that a line is about, in full.
std::string describe(const Program& program, const std::string& line) {
  std::size_t index = 0;
  if (std::sscanf(line.c_str(), "message %zu", &index) == 1) return describe(program.messages.at(index));
  if (std::sscanf(line.c_str(), "collective %zu", &index) == 1)
    return describe(program.collectives.at(index));
  return "";
}

/// Compares with the next lines of the plain run; false and one report at the first difference.
bool matches(const Program& program, const std::vector<std::string>& seen, std::ifstream& plain, int rank,
             int ranks) {
  PlainProgram header;
  while (read_header(plain, header) && header.seed != program.seed) {  // those that this run skips
    for (std::string line; header.lines > 0; --header.lines) std::getline(plain, line);
  }
  if (header.seed != program.seed) {
    fmt::print(stderr, "FAILED seed {} on rank {}: the plain run has not run it\n", program.seed, rank);
    return false;
  }
  const std::size_t count = header.lines;
  std::vector<std::string> expected(count);
  for (std::string& line : expected) std::getline(plain, line);
  for (std::size_t i = 0; i < std::max(count, seen.size()); ++i) {
    const std::string wanted = i < count ? expected[i] : "nothing";
    const std::string got = i < seen.size() ? seen[i] : "nothing";
    if (wanted == got) continue;
    fmt::print(stderr,
               "FAILED seed {} on rank {}: {}\n    plain    {}\n    Penstock {}\n"
               "    rerun: tests/differential/run --ranks {} --first {} --seeds 1\n",
               program.seed, rank, describe(program, got), wanted, got, ranks, program.seed);
    return false;
  }
  return true;
}

int run(const Options& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_support::watch(rank, 60);
  const bool plain = !options.plain_file.empty();
  const bool host_only = plain || options.host_only;
  const auto forms = options.persistent_collectives    ? differential::Forms::persistent_collectives
                     : options.nonblocking_collectives ? differential::Forms::nonblocking_collectives
                                                       : differential::Forms::persistent_messages;
  const std::string path = fmt::format("{}.{}", plain ? options.plain_file : options.check_file, rank);
  std::ofstream written;
  std::ifstream expected;
  if (plain) {
    written.open(path);
  } else {
    expected.open(path);
  }
  const std::uint64_t first = plain ? seed_of_rank_0(options.first) : first_seed_in(expected) + options.skip;
  if (rank == 0) {
    fmt::print("seeds {} to {} on {} ranks\n", first, first + options.seeds - 1, size);
    std::fflush(stdout);
  }

  const differential::Families families = families_of(options);
  std::uint64_t failed = 0;
  for (std::uint64_t seed = first; seed < first + options.seeds; ++seed) {
    test_support::progress("the start of seed %llu", static_cast<unsigned long long>(seed));
    const Program program = differential::generate(seed, size, families);
    const std::vector<std::string> seen = run_program(program, host_only, forms);
    meet();
    if (plain) {
      fmt::memory_buffer text;
      fmt::format_to(std::back_inserter(text), "seed {} {}\n", seed, seen.size());
      for (const std::string& line : seen) fmt::format_to(std::back_inserter(text), "{}\n", line);
      written.write(text.data(), static_cast<std::streamsize>(text.size()));
    } else if (!matches(program, seen, expected, rank, size)) {
      ++failed;
    }
  }
  if (options.posted) {
    const long messages = differential::messages_written();
    if (rank == 0) fmt::print("{} messages were written to posted receives\n", messages);
    // few programs may have no such message
    if (messages == 0 && options.seeds > 10) ++failed;
  }
  if (families.finalize) differential::call_mpi_in_finalize(host_only);
  if (options.communicators > 0 && differential::use_many_communicators(options.communicators, host_only) > 0)
    ++failed;
  written.close();
  fmt::print("rank {}: {} seeds from {}, {} failed\n", rank, options.seeds, first, failed);
  return failed > 0 || (plain && !written) || (!plain && !expected) ? 1 : 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  CLI::App app("Differential random programs; start it with tests/differential/run");
  auto* plain =
      app.add_option("--plain", options.plain_file, "write what is seen to FILE.<rank>, host memory only");
  auto* check =
      app.add_option("--check", options.check_file, "compare with FILE.<rank>, from its first seed on");
  check->excludes(plain);
  app.add_option("--first", options.first, "first seed, or date: of this day's own")
      ->transform([](const std::string& text) {
        return text == "date" ? std::to_string(penstock::test_support::first_seed_of_today()) : text;
      })
      ->excludes(check);
  app.add_option("--seeds", options.seeds, "how many");
  app.add_flag("--host-only", options.host_only, "compare with every buffer in host memory: tests the test");
  app.add_flag("--persistent-collectives", options.persistent_collectives,
               "blocking collectives by persistent requests, and no persistent messages");
  app.add_flag("--nonblocking-collectives", options.nonblocking_collectives,
               "blocking collectives by non-blocking calls, on which the ranks agree from the beginning");
  app.add_flag("--posted", options.posted, "some message must have been written to a posted receive");
  app.add_option("--skip", options.skip, "with --check: start after so many programs of the plain run");
  app.add_option("--communicators", options.communicators, "also make and free so many, and use some");
  app.add_option("--without", options.without,
                 "leave these out: early, absolute, empty, freed, errors, finalize, callbacks")
      ->delimiter(',');
  CLI11_PARSE(app, argument_count, arguments);
  if (options.plain_file.empty() && options.check_file.empty()) return app.exit(CLI::CallForHelp());

  MPI_Init(&argument_count, &arguments);
  const int result = run(options);
  MPI_Finalize();
  return differential::finalize_went_well() ? result : 1;
}
