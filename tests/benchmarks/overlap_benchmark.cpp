// How much of an exchange of device buffers hides behind a kernel that runs meanwhile. Both ranks post
// MPI_Irecv and MPI_Isend, launch a kernel that keeps the whole GPU busy, wait for it, and only then call
// MPI_Waitall: what is not hidden by then is exposed. Beside it the exchange alone and the kernel alone.
//   mpiexec.mpich -n 2 penstock run overlap_benchmark_mpich
// Names: exchange_beside_a_kernel/messages/bytes of each.
// overlap = (exchange + kernel − both) / min(exchange, kernel): 1 all that could be hidden was, 0 nothing
// was. The kernel runs in a stream that does not synchronise with the legacy default stream, so nobody has to
// wait for it.
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
  std::vector<std::size_t> sizes{std::size_t{64} << 20};
  std::size_t messages = 1;
  double kernel_ms = 2;
  int samples = 21;
  std::string facts_path;
};

/// What both ranks do next: an exchange of messages of so many bytes, or a kernel, or both; none of them:
/// stop.
struct Work {
  std::size_t bytes = 0;
  bool compute = false;
  friend bool operator==(const Work&, const Work&) = default;
};

class Rank {
 public:
  Rank(int rank, std::size_t largest_bytes, std::size_t messages, double kernel_s)
      : rank_(rank),
        messages_(messages),
        outgoing_(MemoryKind::device, messages * largest_bytes, device()),
        incoming_(MemoryKind::device, messages * largest_bytes, device()) {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
    require(cudaMemset(outgoing_.data(), 1, messages * largest_bytes), "fill a buffer");
    require(cudaDeviceSynchronize(), "fill a buffer");
    calibrate(kernel_s);
  }
  ~Rank() { cudaStreamDestroy(stream_); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// Both ranks do it; the result is how long the slower one took.
  double perform(const Work& work) {
    if (rank_ == leader) lead(work);
    if (work.bytes == 0 && !work.compute) return 0;
    meet(rank_);
    const double mine_s = seconds_of([&] {
      if (work.bytes != 0) post(work.bytes);
      if (work.compute) compute();
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    });
    double slower_s = 0;
    MPI_Allreduce(&mine_s, &slower_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slower_s;
  }

 private:
  static int device() {
    int device = 0;
    require(cudaGetDevice(&device), "ask for the GPU");
    return device;
  }

  /// Ticks of the GPU's clock for a kernel of that length: its frequency is nobody's to know.
  void calibrate(double kernel_s) {
    compute();  // loads the kernel
    const double once_s = seconds_of([&] { compute(); });
    ticks_ = static_cast<long long>(static_cast<double>(ticks_) * kernel_s / once_s);
  }

  void post(std::size_t bytes) {
    const int other = 1 - rank_;
    const int count = static_cast<int>(bytes);
    for (std::size_t i = 0; i < messages_; ++i) {
      MPI_Irecv(incoming_.data() + i * bytes, count, MPI_BYTE, other, static_cast<int>(i), MPI_COMM_WORLD,
                &requests_[i]);
    }
    for (std::size_t i = 0; i < messages_; ++i) {
      MPI_Isend(outgoing_.data() + i * bytes, count, MPI_BYTE, other, static_cast<int>(i), MPI_COMM_WORLD,
                &requests_[messages_ + i]);
    }
  }

  void compute() {
    require(spin(ticks_, stream_), "launch a kernel");
    require(cudaStreamSynchronize(stream_), "wait for a kernel");
  }

  int rank_;
  std::size_t messages_;
  Memory outgoing_;
  Memory incoming_;
  std::vector<MPI_Request> requests_ = std::vector<MPI_Request>(2 * messages_, MPI_REQUEST_NULL);
  cudaStream_t stream_ = nullptr;
  long long ticks_ = 1'000'000;
};

/// The second time in a row, as a program repeats its steps.
double perform_again(Rank& rank, const Work& work) {
  rank.perform(work);
  return rank.perform(work);
}

void exchange_beside_a_kernel(benchmark::State& state, Rank& rank, std::size_t bytes, int samples) {
  for (auto iteration : state) {
    std::vector<double> exchange_s;
    std::vector<double> kernel_s;
    std::vector<double> both_s;
    for (int sample = 0; sample < samples; ++sample) {
      exchange_s.push_back(perform_again(rank, {bytes, false}));
      kernel_s.push_back(perform_again(rank, {0, true}));
      both_s.push_back(perform_again(rank, {bytes, true}));
    }
    const double exchange = median(exchange_s);
    const double kernel = median(kernel_s);
    const double both = median(both_s);
    state.SetIterationTime(both);
    state.counters["exchange_us"] = exchange * 1e6;
    state.counters["kernel_us"] = kernel * 1e6;
    state.counters["both_us"] = both * 1e6;
    state.counters["overlap"] = (exchange + kernel - both) / std::min(exchange, kernel);
  }
}

void run_benchmarks(Rank& rank, const Options& options) {
  benchmark::AddCustomContext("mpi", mpi_version());
  for (const std::size_t bytes : options.sizes) {
    const std::string name =
        "exchange_beside_a_kernel/" + std::to_string(options.messages) + "/" + std::to_string(bytes);
    benchmark::RegisterBenchmark(name.c_str(), exchange_beside_a_kernel, std::ref(rank), bytes,
                                 options.samples)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}

int run(int rank_number, int argc, char** argv) {
  Options options;
  CLI::App app{"How much of an exchange of device buffers hides behind a kernel"};
  app.add_option("--sizes", options.sizes, "bytes each way, as in 1M,64M")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30))
      ->default_str("64M");
  app.add_option("--messages", options.messages, "each way, of so many bytes each")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--kernel-ms", options.kernel_ms, "how long the kernel takes")->capture_default_str();
  app.add_option("--samples", options.samples, "of which the median is taken")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  if (const std::optional<int> ended = parse(app, options.facts_path, rank_number, argc, argv)) return *ended;
  Rank rank(rank_number, *std::max_element(options.sizes.begin(), options.sizes.end()), options.messages,
            options.kernel_ms * 1e-3);
  return conduct<Work>(rank, rank_number, app, options.facts_path, [&] { run_benchmarks(rank, options); });
}

}  // namespace

int main(int argc, char** argv) {
  return program_of_two("overlap_benchmark", argc, argv, run);
}
