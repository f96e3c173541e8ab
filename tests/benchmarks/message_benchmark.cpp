// Messages between two ranks, one GPU each, for every pair of buffer kinds: half a round trip, a window one
// way, and both ways at once; each beside what CUDA alone takes for the same bytes, measured by turns in the
// same processes.
//   mpiexec.mpich -n 2 penstock run message_benchmark_mpich --benchmark_filter='window/device/device/65536/'
// Names are pattern/sender's kind/receiver's kind/bytes.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tests/benchmarks/message_buffers.hpp"
#include "tests/benchmarks/message_patterns.hpp"
#include "tests/benchmarks/message_point.hpp"
#include "tests/benchmarks/program_of_two.hpp"
#include "tests/benchmarks/raw_copies.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/benchmarks/two_ranks.hpp"

namespace {

using namespace penstock::benchmarks;

struct Options {
  std::vector<std::size_t> sizes;
  double point_seconds = 0.1;
  bool raw_by_pcie = false;
  std::string facts_path;
};

enum class Action : std::uint8_t { stop, mark, messages, expect_marks, raw_copies };

/// What both ranks do next.
struct Work {
  Action action = Action::stop;
  Point point{};
  std::uint64_t number = 0;  ///< of repetitions; of marks their nonce
  friend bool operator==(const Work&, const Work&) = default;
};

/// One rank.
class Rank {
 public:
  Rank(int rank, int device, const std::vector<Point>& points, bool raw_by_pcie)
      : rank_(rank), buffers_(device, points), raw_(rank, device, points, raw_by_pcie) {}

  /// Both ranks do it; on rank 0 how long a repetition took.
  double perform(const Work& work) {
    if (rank_ == leader) lead(work);
    switch (work.action) {
      case Action::stop:
        break;
      case Action::mark:
        mark(work.point, rank_, work.number, buffers_);
        break;
      case Action::expect_marks:
        expect_marks(work.point, rank_, work.number, buffers_);
        break;
      case Action::messages:
        return seconds_each(work.number, [&] { exchange(work.point, rank_, buffers_); });
      case Action::raw_copies:
        return seconds_each(work.number, [&] { raw_.run(work.point, buffers_); });
    }
    return 0;
  }

 private:
  template <class Step>
  double seconds_each(std::uint64_t repetitions, Step step) const {
    meet(rank_);
    const double elapsed_s = seconds_of([&] {
      for (std::uint64_t i = 0; i < repetitions; ++i) step();
    });
    return elapsed_s / static_cast<double>(repetitions);
  }

  int rank_;
  MessageBuffers buffers_;
  RawCopies raw_;
};

struct Figures {
  double exchange_s;
  double raw_s;
};

/// Medians of samples of both, taken by turns: as many as fit `point_seconds`, but a few in any case.
Figures measure(Rank& rank, const Point& point, double point_seconds) {
  constexpr std::size_t most_samples = 11;
  constexpr std::size_t fewest_samples = 3;
  const auto begin = std::chrono::steady_clock::now();
  static std::uint64_t nonce = 0;
  rank.perform({Action::mark, point, ++nonce});
  rank.perform({Action::messages, point, 1});  // also opens what is opened once
  rank.perform({Action::expect_marks, point, nonce});
  rank.perform({Action::raw_copies, point, 1});

  const auto repetitions = [&](Action action) {
    const double sample_s = point_seconds / (4 * most_samples);  // half of the time remains in reserve
    return repetitions_for(sample_s, [&](std::uint64_t number) {
      return rank.perform({action, point, number});
    });
  };
  const std::uint64_t exchanges = repetitions(Action::messages);
  const std::uint64_t raw_copies = repetitions(Action::raw_copies);
  std::vector<double> exchange_s;
  std::vector<double> raw_s;
  const auto time_left = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < point_seconds;
  };
  while (raw_s.size() < fewest_samples || (raw_s.size() < most_samples && time_left())) {
    exchange_s.push_back(rank.perform({Action::messages, point, exchanges}));
    raw_s.push_back(rank.perform({Action::raw_copies, point, raw_copies}));
  }
  return {median(exchange_s), median(raw_s)};
}

void run_point(benchmark::State& state, Rank& rank, const Point& point, double point_seconds) {
  for (auto iteration : state) {
    const Figures figures = measure(rank, point, point_seconds);
    state.SetIterationTime(figures.exchange_s);
    if (point.pattern == Pattern::half_round_trip) {
      const double half_s = figures.exchange_s / 2;
      state.counters["half_round_trip_us"] = half_s * 1e6;
      state.counters["gigabytes_per_s"] = 1e-9 * static_cast<double>(point.bytes) / half_s;
      state.counters["raw_us"] = figures.raw_s * 1e6;
      state.counters["of_raw"] = half_s / figures.raw_s;
    } else {
      const std::size_t messages = point.messages() * (point.pattern == Pattern::both_ways ? 2 : 1);
      const double gigabytes = 1e-9 * static_cast<double>(messages * point.bytes);
      state.counters["gigabytes_per_s"] = gigabytes / figures.exchange_s;
      state.counters["raw_gigabytes_per_s"] = gigabytes / figures.raw_s;
      state.counters["of_raw"] = figures.raw_s / figures.exchange_s;
    }
  }
}

/// Rank 0.
void run_benchmarks(Rank& rank, const std::vector<Point>& points, const Options& options) {
  benchmark::AddCustomContext("mpi", mpi_version());
  if (options.raw_by_pcie) benchmark::AddCustomContext("raw, device to device", "copy to pinned memory");
  for (const Point& point : points) {
    benchmark::RegisterBenchmark(name_of(point).c_str(), run_point, std::ref(rank), point,
                                 options.point_seconds)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}

int run(int rank_number, int argc, char** argv) {
  Options options;
  CLI::App app{"Messages between two ranks for every pair of buffer kinds, beside raw CUDA copies"};
  app.add_option("--sizes", options.sizes, "bytes of a message, for every pair, as in 8,64K,1M")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, largest_message_bytes));
  app.add_option("--point-seconds", options.point_seconds,
                 "time for one point, as far as three samples fit it")
      ->capture_default_str();
  app.add_flag("--raw-by-pcie", options.raw_by_pcie,
               "device to device beside a copy to pinned memory instead of one from the peer");
  if (const std::optional<int> ended = parse(app, options.facts_path, rank_number, argc, argv)) return *ended;

  const std::vector<Point> points = points_of(options.sizes);
  int device = 0;
  require(cudaGetDevice(&device), "ask for the GPU");
  Rank rank(rank_number, device, points, options.raw_by_pcie);
  return conduct<Work>(rank, rank_number, app, options.facts_path,
                       [&] { run_benchmarks(rank, points, options); });
}

}  // namespace

int main(int argc, char** argv) {
  return program_of_two("message_benchmark", argc, argv, run);
}
