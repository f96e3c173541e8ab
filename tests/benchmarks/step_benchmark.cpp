// Steps of a program that computes and exchanges small device messages by turns: so many round trips, then a
// kernel that keeps the whole GPU busy, then cudaDeviceSynchronize. What something that speeds messages up,
// like linger_us in PENSTOCK_TUNING, costs the rest of such a program is seen by running this with it and
// without.
//   mpiexec.mpich -n 2 penstock run step_benchmark_mpich
// Names are step/round trips/microseconds of the kernel (0: none).
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/benchmarks/overlap_kernel.hpp"
#include "tests/benchmarks/program_of_two.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/benchmarks/two_ranks.hpp"
#include "tests/support/memory.hpp"

namespace {

using namespace penstock::benchmarks;
using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

struct Options {
  std::size_t bytes = 1024;
  int steps = 300;
  std::string facts_path;
};

/// What both ranks do next; no steps: stop.
struct Work {
  int steps = 0;
  int round_trips = 0;
  int kernel_us = 0;
  friend bool operator==(const Work&, const Work&) = default;
};

/// Of one step, on rank 0. Medians.
struct Figures {
  double messages_s;
  double synchronise_s;  ///< kernel included
  double step_s;
};

class Rank {
 public:
  Rank(int rank, std::size_t bytes)
      : rank_(rank), bytes_(bytes), buffer_(MemoryKind::device, bytes, device()) {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
    compute(1);  // loads the kernel
    const double once_s = seconds_of([&] { compute(1000); });
    ticks_per_us_ *= 1e-3 / once_s;
  }
  ~Rank() { cudaStreamDestroy(stream_); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  Figures perform(const Work& work) {
    if (rank_ == leader) lead(work);
    if (work.steps == 0) return {};
    std::vector<double> messages_s;
    std::vector<double> synchronise_s;
    std::vector<double> step_s;
    meet(rank_);
    for (int step = 0; step < work.steps; ++step) {
      messages_s.push_back(seconds_of([&] {
        for (int i = 0; i < work.round_trips; ++i) round_trip();
      }));
      synchronise_s.push_back(seconds_of([&] {
        if (work.kernel_us != 0) launch(work.kernel_us);
        require(cudaDeviceSynchronize(), "wait for the GPU");
      }));
      step_s.push_back(messages_s.back() + synchronise_s.back());
    }
    return {median(messages_s), median(synchronise_s), median(step_s)};
  }

 private:
  static int device() {
    int device = 0;
    require(cudaGetDevice(&device), "ask for the GPU");
    return device;
  }

  void launch(int microseconds) {
    require(spin(static_cast<long long>(ticks_per_us_ * microseconds), stream_), "launch a kernel");
  }
  void compute(int microseconds) {
    launch(microseconds);
    require(cudaDeviceSynchronize(), "wait for a kernel");
  }

  void round_trip() {
    const int count = static_cast<int>(bytes_);
    const int other = 1 - rank_;
    if (rank_ == leader) MPI_Send(buffer_.data(), count, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer_.data(), count, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank_ != leader) MPI_Send(buffer_.data(), count, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  }

  int rank_;
  std::size_t bytes_;
  Memory buffer_;
  cudaStream_t stream_ = nullptr;
  double ticks_per_us_ = 1000;  ///< of the GPU's clock
};

void measure_steps(benchmark::State& state, Rank& rank, const Work& work) {
  for (auto iteration : state) {
    rank.perform(work);
    const Figures figures = rank.perform(work);
    state.SetIterationTime(figures.step_s);
    state.counters["step_us"] = figures.step_s * 1e6;
    state.counters["messages_us"] = figures.messages_s * 1e6;
    state.counters["kernel_and_synchronise_us"] = figures.synchronise_s * 1e6;
  }
}

void run_benchmarks(Rank& rank, const Options& options) {
  benchmark::AddCustomContext("mpi", mpi_version());
  for (const int round_trips : {1, 4, 16, 64}) {
    for (const int kernel_us : {0, 20, 200}) {
      const std::string name = "step/" + std::to_string(round_trips) + '/' + std::to_string(kernel_us);
      benchmark::RegisterBenchmark(name.c_str(), measure_steps, std::ref(rank),
                                   Work{options.steps, round_trips, kernel_us})
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
}

int run(int rank_number, int argc, char** argv) {
  Options options;
  CLI::App app{"Steps of a program that computes and exchanges small device messages by turns"};
  app.add_option("--bytes", options.bytes, "of a message")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30))
      ->default_str("1K");
  app.add_option("--steps", options.steps, "of which the median is taken")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  if (const std::optional<int> ended = parse(app, options.facts_path, rank_number, argc, argv)) return *ended;
  Rank rank(rank_number, options.bytes);
  return conduct<Work>(rank, rank_number, app, options.facts_path, [&] { run_benchmarks(rank, options); });
}

}  // namespace

int main(int argc, char** argv) {
  return program_of_two("step_benchmark", argc, argv, run);
}
