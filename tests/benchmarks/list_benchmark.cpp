// Lists of integers between device buffers: such that strictly increase, which may travel as bitmaps, and
// such that do not. Fails if one arrives damaged.
//   mpiexec.mpich -n 2 penstock run --transport staged list_benchmark_mpich
// A figure is half a round trip.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/benchmarks/program_of_two.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/support/memory.hpp"

namespace {

using namespace penstock::benchmarks;
using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

/// What both ranks do next. A default one: stop.
struct Work {
  std::size_t bytes = 0;
  unsigned step = 0;  ///< between the integers; 0: they fall
  int samples = 0;
  friend bool operator==(const Work&, const Work&) = default;
};

class Rank {
 public:
  explicit Rank(int rank) : rank_(rank) { require(cudaGetDevice(&device_), "ask for the GPU"); }
  ~Rank() { meet(rank_); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// Half a round trip, the median; on rank 0.
  double perform(const Work& work) {
    if (rank_ == leader) lead(work);
    if (work == Work{}) return 0;
    std::vector<std::uint32_t> list(work.bytes / 4);
    for (std::uint32_t i = 0; i < list.size(); ++i)
      list[i] = work.step != 0 ? 5 + i * work.step : static_cast<std::uint32_t>(list.size()) - i;
    Memory memory(MemoryKind::device, work.bytes, device_);
    memory.write(0, list.data(), work.bytes);
    const auto count = static_cast<int>(list.size());
    const auto send = [&] { MPI_Send(memory.data(), count, MPI_UINT32_T, 1 - rank_, 0, MPI_COMM_WORLD); };
    const auto receive = [&] {
      MPI_Recv(memory.data(), count, MPI_UINT32_T, 1 - rank_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    std::vector<double> half_s;
    for (int sample = -5; sample < work.samples; ++sample) {
      meet(rank_);
      const double taken_s = seconds_of([&] {
        if (rank_ == leader) send();
        receive();
        if (rank_ == follower) send();
      });
      if (sample >= 0) half_s.push_back(taken_s / 2);
    }
    std::vector<std::uint32_t> arrived(list.size());
    memory.read(0, arrived.data(), work.bytes);
    if (arrived != list) {
      std::fprintf(stderr, "rank %d: a list of %zu bytes arrived damaged\n", rank_, work.bytes);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return median(half_s);
  }

 private:
  int rank_;
  int device_ = 0;
};

void measure(benchmark::State& state, Rank& mine, Work work) {
  for (auto iteration : state) {
    const double half_s = mine.perform(work);
    state.SetIterationTime(half_s);
    state.counters["us"] = half_s * 1e6;
    state.counters["gigabytes_per_s"] = 1e-9 * static_cast<double>(work.bytes) / half_s;
  }
}

int run(int rank, int argc, char** argv) {
  int samples = 100;
  std::vector<std::size_t> sizes{1u << 20, 16u << 20, 256u << 20};
  std::string facts_path;
  CLI::App app{"Lists of integers between device buffers"};
  app.add_option("--samples", samples, "of which the median is taken")->capture_default_str();
  app.add_option("--sizes", sizes, "of the lists")->delimiter(',')->transform(CLI::AsSizeValue(false));
  if (const auto done = parse(app, facts_path, rank, argc, argv)) return *done;
  Rank mine(rank);
  return conduct<Work>(mine, rank, app, facts_path, [&] {
    benchmark::AddCustomContext("mpi", mpi_version());
    for (const unsigned step : {1u, 2u, 8u, 14u, 0u}) {
      for (const std::size_t bytes : sizes) {
        const std::string kind = step != 0 ? "every_" + std::to_string(step) : "falling";
        benchmark::RegisterBenchmark((kind + "/" + std::to_string(bytes)).c_str(), measure, std::ref(mine),
                                     Work{bytes, step, samples})
            ->Iterations(1)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
    benchmark::RunSpecifiedBenchmarks();
  });
}

}  // namespace

int main(int argc, char** argv) {
  return program_of_two("list_benchmark", argc, argv, run);
}
