// Millions of messages, or of collectives, after which two ranks must hold no more of the machine than
// before: memory, descriptors, mappings, threads, device memory. Started by tests/soak/run or by CTest, which
// runs a few.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "tests/soak/collective_traffic.hpp"
#include "tests/soak/traffic.hpp"
#include "tests/soak/usage.hpp"
#include "tests/support/job_exit_code.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using namespace penstock;

constexpr std::uint64_t samples = 64;

/// By both ranks together, `most` operations in all. `done()` is the same on both: each does as much as the
/// other.
template <typename Traffic, typename Done>
int run(Traffic& traffic, Done done, std::uint64_t most, const char* what, int rank) {
  const auto begin = std::chrono::steady_clock::now();
  soak::History history;
  soak::Descriptors early_descriptors;
  for (std::uint64_t sample = 1; sample <= samples; ++sample) {
    while (done() < most * sample / samples) traffic.round();
    if (!traffic.fault().empty()) {
      fmt::print(stderr, "rank {}: {}\n", rank, traffic.fault());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    history.add(soak::read_usage());
    if (sample == samples / 2) early_descriptors = soak::read_descriptors();
    test_support::progress("%llu %s", static_cast<unsigned long long>(done()), what);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::string grown = history.growth();
  if (!grown.empty()) grown += soak::more_descriptors(early_descriptors, soak::read_descriptors());
  fmt::print("rank {}: {} {} in {:.1f} s\n{}{}", rank, done(), what, took.count(), history.summary(),
             grown.empty() ? "flat\n" : "GREW\n" + grown);
  return grown.empty() ? 0 : 1;
}

int run_messages(std::uint64_t messages, std::size_t window, int rank) {
  soak::Traffic traffic(rank, window);
  return run(
      traffic, [&] { return 2 * traffic.messages(); }, messages, "messages", rank);
}

int run_collectives(std::uint64_t collectives, int rank) {
  soak::CollectiveTraffic traffic(rank);
  return run(
      traffic, [&] { return traffic.count(); }, collectives, "collectives", rank);
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::uint64_t messages = 20'000;
  std::uint64_t collectives = 0;
  std::size_t window = 64;
  CLI::App app("Soak; two ranks, started with tests/soak/run");
  app.add_option("--messages", messages, "of both ranks together");
  app.add_option("--collectives", collectives, "so many of them instead");
  app.add_option("--window", window, "small messages under way at once")
      ->check(CLI::Range(std::size_t{1}, soak::Traffic::most_window_messages));
  CLI11_PARSE(app, argument_count, arguments);

  MPI_Init(&argument_count, &arguments);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_support::watch(rank, 120);
  int code = 0;
  if (test_support::gpu_count() == 0) {
    if (rank == 0) fmt::print("SKIPPED: no GPU\n");
    code = test_support::skipped;
  } else if (size != 2) {
    fmt::print("two ranks are needed\n");
    code = 1;
  } else {
    code = collectives != 0 ? run_collectives(collectives, rank) : run_messages(messages, window, rank);
  }
  code = test_support::job_exit_code(code);
  MPI_Finalize();
  return code;
}
