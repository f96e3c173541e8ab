// The loop of a structured multigrid solver on two ranks: V-cycles over grids of which each has half the edge
// of the one before, two smoothing steps on each on the way down and up. A step posts MPI_Irecv, packs its
// face by a kernel, waits for it, sends it by MPI_Isend, smooths, calls MPI_Waitall and unpacks by a kernel:
// many small messages, each with a kernel before and behind it.
//   mpiexec.mpich -n 2 penstock run cycle_benchmark_mpich
// Names are cycles/how faces travel/edge of the finest grid. `by_hand`: through pinned host memory of the
// program, for any MPI library.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/benchmarks/cycle_kernels.hpp"
#include "tests/benchmarks/program_of_two.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/benchmarks/two_ranks.hpp"
#include "tests/support/memory.hpp"

namespace {

using namespace penstock::benchmarks;
using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

struct Options {
  int edge = 112;  ///< faces of 98 KiB to 392 bytes
  int cycles = 52;
  int samples = 5;
  std::string facts_path;
};

/// What both ranks do next; no cycles: stop.
struct Work {
  int cycles = 0;
  bool by_hand = false;
  friend bool operator==(const Work&, const Work&) = default;
};

/// A level's memory.
class Grid {
 public:
  Grid(int edge, int rank, int device)
      : faces_(MemoryKind::device, 4 * face_bytes(edge), device),
        cells_(MemoryKind::device, face_bytes(edge) * static_cast<std::size_t>(edge), device),
        host_(MemoryKind::pinned, 2 * face_bytes(edge), device),
        begin_(rank + 1) {
    auto* const faces = reinterpret_cast<double*>(faces_.data());
    const std::size_t face = face_bytes(edge) / sizeof(double);
    level_ = {reinterpret_cast<double*>(cells_.data()), faces, faces + face, faces + 2 * face, edge};
    const std::vector<double> cells(face * static_cast<std::size_t>(edge), begin_);
    require(cudaMemcpy(cells_.data(), cells.data(), cells.size() * sizeof(double), cudaMemcpyHostToDevice),
            "fill a grid");
  }

  [[nodiscard]] const Level& level() const noexcept { return level_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return face_bytes(level_.edge); }
  [[nodiscard]] void* host_face() const noexcept { return host_.data(); }
  [[nodiscard]] void* host_ghost() const noexcept { return host_.data() + bytes(); }

  /// Ends the job if the last ghosts are not the other rank's cells of before the last step.
  void verify(int steps) const {
    std::vector<double> ghosts(bytes() / sizeof(double));
    require(cudaMemcpy(ghosts.data(), level_.ghost, bytes(), cudaMemcpyDeviceToHost), "read ghosts");
    const double expected = (3 - begin_) * (steps % 2 == 0 ? -1 : 1);
    for (const double ghost : ghosts) {
      if (ghost == expected) continue;
      std::fprintf(stderr, "cycle_benchmark: a ghost cell is %g and should be %g\n", ghost, expected);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

 private:
  static std::size_t face_bytes(int edge) {
    return static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge) * sizeof(double);
  }

  Memory faces_;
  Memory cells_;
  Memory host_;
  Level level_;
  int begin_;  ///< of all cells
};

struct Figures {
  double cycles_s = 0;
  double step_s = 0;     ///< mean
  double waitall_s = 0;  ///< mean of a step
  int steps = 0;
};

class Rank {
 public:
  Rank(int rank, int edge) : rank_(rank) {
    int device = 0;
    require(cudaGetDevice(&device), "ask for the GPU");
    for (; edge >= 4; edge /= 2) grids_.push_back(std::make_unique<Grid>(edge, rank, device));
    steps_.resize(grids_.size());
  }

  Figures perform(const Work& work) {
    if (rank_ == leader) lead(work);
    if (work.cycles == 0) return {};
    Figures figures;
    meet(rank_);
    figures.cycles_s = seconds_of([&] {
      for (int cycle = 0; cycle < work.cycles; ++cycle) run_cycle(work.by_hand, figures);
      require(cudaDeviceSynchronize(), "wait for the GPU");
    });
    for (std::size_t i = 0; i < grids_.size(); ++i) grids_[i]->verify(steps_[i]);
    figures.step_s = figures.cycles_s / figures.steps;
    figures.waitall_s /= figures.steps;
    return figures;
  }

 private:
  void run_cycle(bool by_hand, Figures& figures) {
    const std::size_t levels = grids_.size();
    for (std::size_t i = 0; i < levels; ++i) visit(i, by_hand, figures);
    for (std::size_t i = levels; i > 0; --i) visit(i - 1, by_hand, figures);
  }

  void visit(std::size_t level, bool by_hand, Figures& figures) {
    for (int i = 0; i < 2; ++i) step(*grids_[level], by_hand, figures);
    steps_[level] += 2;
  }

  void step(const Grid& grid, bool by_hand, Figures& figures) const {
    const Level& level = grid.level();
    const int count = static_cast<int>(grid.bytes());
    const int other = 1 - rank_;
    MPI_Request requests[2];
    MPI_Irecv(by_hand ? grid.host_ghost() : level.ghost, count, MPI_BYTE, other, 0, MPI_COMM_WORLD,
              &requests[0]);
    require(pack(level, nullptr), "pack");
    if (by_hand) {
      require(cudaMemcpyAsync(grid.host_face(), level.face, grid.bytes(), cudaMemcpyDeviceToHost, nullptr),
              "copy a face");
    }
    require(cudaStreamSynchronize(nullptr), "wait for a face");
    MPI_Isend(by_hand ? grid.host_face() : level.face, count, MPI_BYTE, other, 0, MPI_COMM_WORLD,
              &requests[1]);
    require(smooth(level, nullptr), "smooth");
    figures.waitall_s += seconds_of([&] { MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); });
    if (by_hand) {
      require(cudaMemcpyAsync(level.ghost, grid.host_ghost(), grid.bytes(), cudaMemcpyHostToDevice, nullptr),
              "copy ghosts");
    }
    require(unpack(level, nullptr), "unpack");
    ++figures.steps;
  }

  int rank_;
  std::vector<std::unique_ptr<Grid>> grids_;
  std::vector<int> steps_;  ///< of each grid, so far
};

void measure_cycles(benchmark::State& state, Rank& rank, const Work& work, int samples) {
  for (auto iteration : state) {
    rank.perform({1, work.by_hand});
    std::vector<double> cycles_s;
    std::vector<double> waitall_s;
    Figures last;
    for (int i = 0; i < samples; ++i) {
      last = rank.perform(work);
      cycles_s.push_back(last.cycles_s);
      waitall_s.push_back(last.waitall_s);
    }
    state.SetIterationTime(median(cycles_s));
    state.counters["steps"] = last.steps;
    state.counters["step_us"] = median(cycles_s) / last.steps * 1e6;
    state.counters["waitall_us"] = median(waitall_s) * 1e6;
  }
}

void run_benchmarks(Rank& rank, const Options& options) {
  benchmark::AddCustomContext("mpi", mpi_version());
  for (const bool by_hand : {false, true}) {
    const std::string name =
        std::string("cycles/") + (by_hand ? "by_hand/" : "device/") + std::to_string(options.edge);
    benchmark::RegisterBenchmark(name.c_str(), measure_cycles, std::ref(rank), Work{options.cycles, by_hand},
                                 options.samples)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}

int run(int rank_number, int argc, char** argv) {
  Options options;
  CLI::App app{"V-cycles of a multigrid solver: small device messages between kernels"};
  app.add_option("--edge", options.edge, "of the finest grid, in cells")
      ->check(CLI::Range(4, 512))
      ->capture_default_str();
  app.add_option("--cycles", options.cycles, "of a sample")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--samples", options.samples, "of which the median is taken")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  if (const std::optional<int> ended = parse(app, options.facts_path, rank_number, argc, argv)) return *ended;
  Rank rank(rank_number, options.edge);
  return conduct<Work>(rank, rank_number, app, options.facts_path, [&] { run_benchmarks(rank, options); });
}

}  // namespace

int main(int argc, char** argv) {
  return program_of_two("cycle_benchmark", argc, argv, run);
}
