// Looks for cliffs: walks sizes × numbers of messages at once × kinds of memory × blocking or not between two
// ranks, a GPU each, beside raw copies in the same processes, and lists each point that is more than twice as
// bad as a neighbour or below 0.7 of raw. What looks like a cliff is measured again before it is listed.
//   mpiexec.mpich -n 2 penstock run --no-record cliff_benchmark_mpich --csv cliffs.csv
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/benchmarks/cliff_exchange.hpp"
#include "tests/benchmarks/cliff_points.hpp"
#include "tests/benchmarks/program_of_two.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/benchmarks/two_ranks.hpp"

namespace {

using namespace penstock::benchmarks;

struct Options {
  CliffWalk walk;
  double sample_ms = 2.5;
  double seconds = 270;
  double least_of_raw = 0.7;
  std::string csv_path;
  std::string facts_path;
};

enum class Action : std::uint8_t { stop, check, messages, raw_copies };

/// What both ranks do next.
struct Work {
  Action action = Action::stop;
  CliffPoint point{};
  std::uint64_t number = 0;  ///< of repetitions; of marks their nonce
  friend bool operator==(const Work&, const Work&) = default;
};

/// One rank.
class Rank {
 public:
  Rank(int rank, int device, const std::vector<CliffPoint>& points)
      : rank_(rank), exchange_(rank, device, points) {}

  /// Both ranks do it; on rank 0 how long a repetition took.
  double perform(const Work& work) {
    if (rank_ == leader) lead(work);
    switch (work.action) {
      case Action::stop:
        break;
      case Action::check:
        exchange_.checked_messages(work.point, work.number);
        break;
      case Action::messages:
        return seconds_each(work.number, [&] { exchange_.messages(work.point); }) /
               (work.point.number == 1 ? 2 : 1);
      case Action::raw_copies:
        return seconds_each(work.number, [&] { exchange_.raw_copies(work.point); });
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
  CliffExchange exchange_;
};

/// Medians of samples of both, taken by turns.
MeasuredPoint measure(Rank& rank, const CliffPoint& point, double sample_s, std::size_t samples) {
  static std::uint64_t nonce = 0;
  rank.perform({Action::check, point, ++nonce});  // also opens what is opened once
  const auto repetitions = [&](Action action) {
    return repetitions_for(sample_s, [&](std::uint64_t number) {
      return rank.perform({action, point, number});
    });
  };
  const std::uint64_t exchanges = repetitions(Action::messages);
  const std::uint64_t copies = repetitions(Action::raw_copies);
  std::vector<double> message_s;
  std::vector<double> raw_s;
  for (std::size_t i = 0; i < samples; ++i) {
    message_s.push_back(rank.perform({Action::messages, point, exchanges}));
    raw_s.push_back(rank.perform({Action::raw_copies, point, copies}));
  }
  return {point, median(message_s), median(raw_s)};
}

/// Rank 0.
class Walk {
 public:
  Walk(Rank& rank, const Options& options) : rank_(rank), options_(options) {}

  /// What there is time for, with a line of progress a series.
  void measure_all(const std::vector<CliffPoint>& points) {
    for (const CliffPoint& point : points) {
      if (passed_s() > options_.seconds) break;
      if (measured_.empty() || !measured_.back().point.is_of_series(point)) {
        std::fprintf(stderr, "%5.1f s, %zu of %zu points: %s\n", passed_s(), measured_.size(), points.size(),
                     series_name(point).c_str());
      }
      constexpr std::size_t samples = 3;
      measured_.push_back(measure(rank_, point, options_.sample_ms * 1e-3, samples));
    }
  }

  /// Something else on the machine may have disturbed a point or its neighbour. The better of both counts.
  void measure_cliffs_again() {
    const std::vector<Cliff> cliffs = find_cliffs(measured_, options_.least_of_raw);
    std::fprintf(stderr, "%5.1f s, again: %zu points\n", passed_s(), cliffs.size());
    for (const Cliff& cliff : cliffs) {
      if (passed_s() > options_.seconds) return;
      MeasuredPoint& before = measured_[cliff.index];
      constexpr std::size_t samples = 5;
      const MeasuredPoint again = measure(rank_, before.point, options_.sample_ms * 1e-3, samples);
      if (again.message_s < before.message_s) before.message_s = again.message_s;
      before.raw_s = std::min(before.raw_s, again.raw_s);
    }
  }

  /// False, after a line, if a file cannot be written.
  [[nodiscard]] bool report(std::size_t points) const {
    const std::vector<Cliff> cliffs = find_cliffs(measured_, options_.least_of_raw);
    std::printf("%zu of %zu points measured in %.0f s, %s; cliffs: %zu\n\n", measured_.size(), points,
                passed_s(), mpi_version().c_str(), cliffs.size());
    std::printf("%s", table_of(measured_, cliffs).c_str());
    if (options_.csv_path.empty()) return true;
    std::ofstream file(options_.csv_path);
    file << csv_of(measured_, cliffs) << std::flush;
    if (!file) std::fprintf(stderr, "%s: cannot be written\n", options_.csv_path.c_str());
    return static_cast<bool>(file);
  }

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] double passed_s() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  Rank& rank_;
  const Options& options_;
  const Clock::time_point begin_ = Clock::now();
  std::vector<MeasuredPoint> measured_;
};

int run(int rank_number, int argc, char** argv) {
  Options options;
  CLI::App app{"Looks for cliffs in the speed of messages between two ranks, beside raw CUDA copies"};
  const auto add_size = [&](const char* name, std::size_t& bytes, const char* what) {
    app.add_option(name, bytes, what)->transform(CLI::AsSizeValue(false))->capture_default_str();
  };
  add_size("--smallest", options.walk.smallest, "bytes of the smallest message");
  add_size("--largest", options.walk.largest, "bytes of the largest one, at most 1 GiB");
  add_size("--device-bytes", options.walk.device_bytes, "memory for a window from device to device");
  add_size("--host-bytes", options.walk.host_bytes, "the same where one end is host or managed memory");
  app.add_option("--numbers", options.walk.numbers, "messages at once")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  app.add_option("--sample-ms", options.sample_ms, "time for one sample, as far as one repetition fits it")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "no further point is measured after so long")
      ->capture_default_str();
  app.add_option("--least-of-raw", options.least_of_raw, "a point below that is a cliff")
      ->capture_default_str();
  app.add_option("--csv", options.csv_path, "a file for all points");
  if (const std::optional<int> ended = parse(app, options.facts_path, rank_number, argc, argv)) return *ended;
  options.walk.smallest = std::max<std::size_t>(options.walk.smallest, 1);
  options.walk.largest = std::min(options.walk.largest, std::size_t{1} << 30);

  const std::vector<CliffPoint> points = points_of(options.walk);
  int device = 0;
  require(cudaGetDevice(&device), "ask for the GPU");
  Rank rank(rank_number, device, points);
  bool written = true;
  const int exit_code = conduct<Work>(rank, rank_number, app, options.facts_path, [&] {
    Walk walk(rank, options);
    walk.measure_all(points);
    walk.measure_cliffs_again();
    written = walk.report(points.size());
  });
  return written ? exit_code : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return program_of_two("cliff_benchmark", argc, argv, run);
}
