// Messages between two threads of one rank, one GPU each, under MPI_THREAD_MULTIPLE: half a round trip, and a
// window one way; each beside cudaMemcpyPeerAsync for the same bytes, measured by turns in the same process.
//   mpiexec.mpich -n 1 penstock run thread_benchmark_mpich --benchmark_filter='window/65536'
// Names are pattern/bytes.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/benchmarks/framework.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/benchmarks/two_ranks.hpp"
#include "tests/support/exit_code.hpp"
#include "tests/support/memory.hpp"

namespace {

using namespace penstock::benchmarks;
using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

constexpr int there_tag = 1;
constexpr int back_tag = 2;
constexpr int ready_tag = 3;
constexpr std::size_t window_limit_bytes = std::size_t{256} << 20;

struct Options {
  std::vector<std::size_t> sizes = {8, 1024, 65536, 1u << 20, 16u << 20};
  double point_seconds = 0.1;
  bool without_peer_access = false;
  std::string facts_path;
};

/// One thread's memory and what it does in MPI. The thread sets its device.
class End {
 public:
  End(int device, std::size_t bytes) : device_(device), memory_(MemoryKind::device, bytes, device) {}
  void use_device() const { require(cudaSetDevice(device_), "choose a GPU"); }
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }

  void send(std::size_t bytes, int tag) const {
    MPI_Send(memory_.data(), static_cast<int>(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  }
  void receive(std::size_t bytes, int tag) const {
    MPI_Recv(memory_.data(), static_cast<int>(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /// `post` is MPI_Isend or MPI_Irecv.
  template <class Post>
  void window(std::size_t bytes, std::size_t messages, Post post) {
    requests_.resize(messages);
    for (std::size_t i = 0; i < messages; ++i) {
      post(memory_.data() + i * bytes, static_cast<int>(bytes), MPI_BYTE, 0, there_tag, MPI_COMM_WORLD,
           &requests_[i]);
    }
    MPI_Waitall(static_cast<int>(messages), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  int device_;
  Memory memory_;
  std::vector<MPI_Request> requests_;
};

struct Point {
  bool is_window;
  std::size_t bytes;
  [[nodiscard]] std::size_t messages() const noexcept {
    return is_window ? std::clamp<std::size_t>(window_limit_bytes / bytes, 1, 64) : 1;
  }
};

class Pair {
 public:
  explicit Pair(std::size_t largest_bytes)
      : first_(0, memory_bytes(largest_bytes)), second_(gpus() - 1 > 0 ? 1 : 0, memory_bytes(largest_bytes)) {
    second_.use_device();
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
  }
  ~Pair() { cudaStreamDestroy(stream_); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  /// The time begins when both threads are there, and ends when all has arrived.
  double messages_s(const Point& point, std::uint64_t repetitions) {
    std::thread other([&] {
      second_.use_device();
      second_.send(0, ready_tag);
      for (std::uint64_t i = 0; i < repetitions; ++i) {
        if (point.is_window) {
          second_.window(point.bytes, point.messages(), MPI_Irecv);
        } else {
          second_.receive(point.bytes, there_tag);
        }
        second_.send(point.is_window ? 0 : point.bytes, back_tag);
      }
    });
    first_.use_device();
    first_.receive(0, ready_tag);
    const double elapsed_s = seconds_of([&] {
      for (std::uint64_t i = 0; i < repetitions; ++i) {
        if (point.is_window) {
          first_.window(point.bytes, point.messages(), MPI_Isend);
        } else {
          first_.send(point.bytes, there_tag);
        }
        first_.receive(point.is_window ? 0 : point.bytes, back_tag);
      }
    });
    other.join();
    return elapsed_s / static_cast<double>(repetitions);
  }

  double copies_s(const Point& point, std::uint64_t repetitions) {
    second_.use_device();
    const double elapsed_s = seconds_of([&] {
      for (std::uint64_t i = 0; i < repetitions; ++i) {
        for (std::size_t message = 0; message < point.messages(); ++message) {
          require(cudaMemcpyPeerAsync(second_.memory().data() + message * point.bytes, second_.device(),
                                      first_.memory().data() + message * point.bytes, first_.device(),
                                      point.bytes, stream_),
                  "copy");
        }
        require(cudaStreamSynchronize(stream_), "wait for copies");
      }
    });
    return elapsed_s / static_cast<double>(repetitions);
  }

  /// A benchmark of messages that do not arrive would be fast.
  void expect_to_arrive(const Point& point) {
    static unsigned char sign = 0;
    ++sign;
    const std::size_t bytes = point.bytes * point.messages();
    const std::vector<unsigned char> sent(bytes, sign);
    first_.memory().write(0, sent.data(), bytes);
    messages_s(point, 1);
    std::vector<unsigned char> arrived(bytes);
    second_.memory().read(0, arrived.data(), bytes);
    if (arrived == sent) return;
    std::fprintf(stderr, "%zu bytes did not arrive\n", point.bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

 private:
  static int gpus() { return penstock::test_support::gpu_count(); }
  static std::size_t memory_bytes(std::size_t largest_bytes) {
    return std::max(largest_bytes, std::min(64 * largest_bytes, window_limit_bytes));
  }
  End first_;
  End second_;
  cudaStream_t stream_ = nullptr;
};

void run_point(benchmark::State& state, Pair& pair, const Point& point, double point_seconds) {
  constexpr int samples = 5;
  for (auto iteration : state) {
    pair.expect_to_arrive(point);
    const double sample_s = point_seconds / (2 * samples);
    const std::uint64_t exchanges =
        repetitions_for(sample_s, [&](std::uint64_t number) { return pair.messages_s(point, number); });
    const std::uint64_t copies =
        repetitions_for(sample_s, [&](std::uint64_t number) { return pair.copies_s(point, number); });
    std::vector<double> messages_s;
    std::vector<double> copies_s;
    for (int sample = 0; sample < samples; ++sample) {
      messages_s.push_back(pair.messages_s(point, exchanges));
      copies_s.push_back(pair.copies_s(point, copies));
    }
    state.SetIterationTime(median(messages_s));
    const double gigabytes = 1e-9 * static_cast<double>(point.bytes * point.messages());
    const double one_way_s = point.is_window ? median(messages_s) : median(messages_s) / 2;
    if (!point.is_window) {
      state.counters["half_round_trip_us"] = one_way_s * 1e6;
      state.counters["raw_us"] = median(copies_s) * 1e6;
    }
    state.counters["gigabytes_per_s"] = gigabytes / one_way_s;
    state.counters["raw_gigabytes_per_s"] = gigabytes / median(copies_s);
    state.counters["of_raw"] = point.is_window ? median(copies_s) / one_way_s : one_way_s / median(copies_s);
  }
}

/// As programs do whose threads have a GPU each: otherwise the driver copies between these through the host.
void enable_peer_access() {
  if (penstock::test_support::gpu_count() < 2) return;
  for (const int device : {0, 1}) {
    int can = 0;
    require(cudaSetDevice(device), "choose a GPU");
    require(cudaDeviceCanAccessPeer(&can, device, 1 - device), "ask for peer access");
    if (can != 0) require(cudaDeviceEnablePeerAccess(1 - device, 0), "enable peer access");
  }
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"Messages between two threads of one rank, a GPU each, beside raw CUDA copies"};
  app.allow_extras();
  app.footer("And Google Benchmark's options: --benchmark_filter=REGEX, --benchmark_out=FILE, …");
  app.add_option("--sizes", options.sizes, "bytes of a message, as in 8,64K,1M")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, window_limit_bytes));
  app.add_option("--point-seconds", options.point_seconds, "time for one point")->capture_default_str();
  app.add_flag("--without-peer-access", options.without_peer_access,
               "as a program that never calls cudaDeviceEnablePeerAccess");
  app.add_option("--facts", options.facts_path, "JSON object to put beside the figures (date, GPU, …)");
  CLI11_PARSE(app, argc, argv);
  if (!start_framework(app.remaining(), options.facts_path)) return 1;
  benchmark::AddCustomContext("mpi", mpi_version());
  benchmark::AddCustomContext("peer access",
                              options.without_peer_access ? "not enabled" : "enabled where it can be");
  if (!options.without_peer_access) enable_peer_access();
  Pair pair(*std::max_element(options.sizes.begin(), options.sizes.end()));
  for (const bool is_window : {false, true}) {
    for (const std::size_t bytes : options.sizes) {
      const std::string name =
          std::string(is_window ? "window/" : "half_round_trip/") + std::to_string(bytes);
      benchmark::RegisterBenchmark(name.c_str(), run_point, std::ref(pair), Point{is_window, bytes},
                                   options.point_seconds)
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int exit_code = 0;
  if (provided != MPI_THREAD_MULTIPLE) {
    std::puts("SKIPPED: no MPI_THREAD_MULTIPLE");
    exit_code = penstock::test_support::skipped;
  } else {
    exit_code = run(argc, argv);
  }
  MPI_Finalize();
  return exit_code;
}
