// Collectives on device buffers, beside NCCL's in the same processes and by turns. Rank k uses device k
// modulo how many there are; NCCL has no figure where ranks share a GPU.
//   mpiexec.mpich -n 2 penstock run collective_benchmark_mpich
// Names are collective/bytes: of the vector in bcast and the reductions, of a rank's block in allgather, of
// the block from each rank to each in alltoall; those that begin with an i are MPI's non-blocking calls,
// those with persistent_ are started, and both waited for at once. NCCL has no scan; beside it stands a
// reduce_scatter. A figure is the time from a barrier to the last rank's end.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/benchmarks/framework.hpp"
#include "tests/benchmarks/nccl_library.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/benchmarks/two_ranks.hpp"
#include "tests/support/memory.hpp"

namespace {

using namespace penstock::benchmarks;
using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

enum class Collective : int { bcast, allgather, alltoall, allreduce, reduce_scatter, scan };
constexpr std::array names = {"bcast", "allgather", "alltoall", "allreduce", "reduce_scatter", "scan"};
constexpr bool is_reduction(Collective collective) {
  return collective >= Collective::allreduce;
}

enum class Form : int { blocking, nonblocking, persistent };
constexpr std::array prefixes = {"", "i", "persistent_"};

/// What all ranks do next; `samples` 0: stop.
struct Work {
  Collective collective = Collective::bcast;
  std::uint64_t bytes = 0;
  int samples = 0;
  Form form = Form::blocking;
};

struct Options {
  std::vector<std::uint64_t> sizes{8, 1024, 4096, 32 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20};
  int samples = 0;  ///< 0: by size
  std::string facts_path;
};

/// Medians over the samples, each that of the slowest rank.
struct Figures {
  double mpi_s = 0;
  double nccl_s = 0;
};

class Ranks {
 public:
  Ranks() {
    MPI_Comm_dup(MPI_COMM_WORLD, &control_);
    MPI_Comm_rank(control_, &rank_);
    MPI_Comm_size(control_, &size_);
    int devices = 0;
    require(cudaGetDeviceCount(&devices), "count the GPUs");
    device_ = rank_ % devices;
    require(cudaSetDevice(device_), "choose a GPU");
    nccl_ = std::make_unique<NcclLibrary>(control_);
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
  }
  ~Ranks() {
    nccl_.reset();
    cudaStreamDestroy(stream_);
    MPI_Comm_free(&control_);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] bool is_leader() const noexcept { return rank_ == 0; }
  [[nodiscard]] bool has_nccl() const noexcept { return nccl_->is_there(); }

  /// Rank 0's `work` is done by all.
  Figures perform(Work& work) {
    MPI_Bcast(&work, sizeof work, MPI_BYTE, 0, control_);
    if (work.samples == 0) return {};
    const std::size_t blocks = static_cast<std::size_t>(size_);
    const bool sends_blocks = work.collective == Collective::alltoall;
    const bool receives_blocks = sends_blocks || work.collective == Collective::allgather;
    Memory sent(MemoryKind::device, work.bytes * (sends_blocks ? blocks : 1), device_);
    Memory received(MemoryKind::device, work.bytes * (receives_blocks ? blocks : 1), device_);
    fill(work, sent);
    Figures figures;
    if (has_nccl()) {
      figures.nccl_s = time(work.samples, [&] { run_nccl(work, sent, received); });
      if (work.collective != Collective::scan) check(work, sent, received, "NCCL");
    }
    fill(work, sent);
    cudaMemset(received.data(), 0, received.size());
    MPI_Request persistent = MPI_REQUEST_NULL;
    if (work.form == Form::persistent) persistent = prepare(work, sent, received);
    figures.mpi_s = time(work.samples, [&] {
      switch (work.form) {
        case Form::blocking:
          return run_mpi(work, sent, received);
        case Form::nonblocking:
          return run_nonblocking(work, sent, received);
        case Form::persistent:
          MPI_Start(&persistent);
          MPI_Wait(&persistent, MPI_STATUS_IGNORE);
      }
    });
    if (persistent != MPI_REQUEST_NULL) MPI_Request_free(&persistent);
    check(work, sent, received, "MPI");
    return figures;
  }

 private:
  static constexpr int root = 0;

  template <class Call>
  double time(int samples, Call call) {
    std::vector<double> all;
    // the first ones connect, and let Penstock's ranks agree on non-blocking ones
    for (int sample = -3; sample < samples; ++sample) {
      MPI_Barrier(MPI_COMM_WORLD);
      double slowest_s = seconds_of(call);
      MPI_Allreduce(MPI_IN_PLACE, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, control_);
      if (sample >= 0) all.push_back(slowest_s);
    }
    return median(all);
  }

  void run_mpi(const Work& work, const Memory& sent, const Memory& received) const {
    const int count = static_cast<int>(work.bytes);
    switch (work.collective) {
      case Collective::bcast:
        MPI_Bcast(sent.data(), count, MPI_BYTE, root, MPI_COMM_WORLD);
        break;
      case Collective::allgather:
        MPI_Allgather(sent.data(), count, MPI_BYTE, received.data(), count, MPI_BYTE, MPI_COMM_WORLD);
        break;
      case Collective::alltoall:
        MPI_Alltoall(sent.data(), count, MPI_BYTE, received.data(), count, MPI_BYTE, MPI_COMM_WORLD);
        break;
      case Collective::allreduce:
        MPI_Allreduce(sent.data(), received.data(), count / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
      case Collective::reduce_scatter:
        MPI_Reduce_scatter_block(sent.data(), received.data(), count / 4 / size_, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
        break;
      case Collective::scan:
        MPI_Scan(sent.data(), received.data(), count / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    }
  }

  void run_nonblocking(const Work& work, const Memory& sent, const Memory& received) const {
    const int count = static_cast<int>(work.bytes);
    const MPI_Comm all = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (work.collective) {
      case Collective::bcast:
        MPI_Ibcast(sent.data(), count, MPI_BYTE, root, all, &request);
        break;
      case Collective::allgather:
        MPI_Iallgather(sent.data(), count, MPI_BYTE, received.data(), count, MPI_BYTE, all, &request);
        break;
      case Collective::alltoall:
        MPI_Ialltoall(sent.data(), count, MPI_BYTE, received.data(), count, MPI_BYTE, all, &request);
        break;
      case Collective::allreduce:
        MPI_Iallreduce(sent.data(), received.data(), count / 4, MPI_FLOAT, MPI_SUM, all, &request);
        break;
      case Collective::reduce_scatter:
        MPI_Ireduce_scatter_block(sent.data(), received.data(), count / 4 / size_, MPI_FLOAT, MPI_SUM, all,
                                  &request);
        break;
      case Collective::scan:
        MPI_Iscan(sent.data(), received.data(), count / 4, MPI_FLOAT, MPI_SUM, all, &request);
        break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  [[nodiscard]] MPI_Request prepare(const Work& work, const Memory& sent, const Memory& received) const {
    MPI_Request request = MPI_REQUEST_NULL;
#if MPI_VERSION >= 4
    const int count = static_cast<int>(work.bytes);
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Info info = MPI_INFO_NULL;
    std::byte* const to = received.data();
    switch (work.collective) {
      case Collective::bcast:
        MPI_Bcast_init(sent.data(), count, MPI_BYTE, root, all, info, &request);
        break;
      case Collective::allgather:
        MPI_Allgather_init(sent.data(), count, MPI_BYTE, to, count, MPI_BYTE, all, info, &request);
        break;
      case Collective::alltoall:
        MPI_Alltoall_init(sent.data(), count, MPI_BYTE, to, count, MPI_BYTE, all, info, &request);
        break;
      case Collective::allreduce:
        MPI_Allreduce_init(sent.data(), to, count / 4, MPI_FLOAT, MPI_SUM, all, info, &request);
        break;
      case Collective::reduce_scatter:
        MPI_Reduce_scatter_block_init(sent.data(), to, count / 4 / size_, MPI_FLOAT, MPI_SUM, all, info,
                                      &request);
        break;
      case Collective::scan:
        MPI_Scan_init(sent.data(), to, count / 4, MPI_FLOAT, MPI_SUM, all, info, &request);
        break;
    }
#else
    static_cast<void>(work), static_cast<void>(sent), static_cast<void>(received);
#endif
    return request;
  }

  void run_nccl(const Work& work, const Memory& sent, const Memory& received) const {
    const NcclFunctions& nccl = nccl_->call();
    void* const all = nccl_->communicator();
    switch (work.collective) {
      case Collective::bcast:
        nccl.broadcast(sent.data(), sent.data(), work.bytes, NcclFunctions::int8, root, all, stream_);
        break;
      case Collective::allgather:
        nccl.all_gather(sent.data(), received.data(), work.bytes, NcclFunctions::int8, all, stream_);
        break;
      case Collective::alltoall:
        nccl.group_start();
        for (int peer = 0; peer < size_; ++peer) {
          const std::size_t offset = static_cast<std::size_t>(peer) * work.bytes;
          nccl.send(sent.data() + offset, work.bytes, NcclFunctions::int8, peer, all, stream_);
          nccl.receive(received.data() + offset, work.bytes, NcclFunctions::int8, peer, all, stream_);
        }
        nccl.group_end();
        break;
      case Collective::allreduce:
        nccl.all_reduce(sent.data(), received.data(), work.bytes / 4, NcclFunctions::float32,
                        NcclFunctions::sum, all, stream_);
        break;
      case Collective::reduce_scatter:
      case Collective::scan:
        nccl.reduce_scatter(sent.data(), received.data(), work.bytes / 4 / static_cast<std::size_t>(size_),
                            NcclFunctions::float32, NcclFunctions::sum, all, stream_);
        break;
    }
    require(cudaStreamSynchronize(stream_), "wait for NCCL");
  }

  /// What rank `from` sends to rank `to`.
  [[nodiscard]] static unsigned char value(const Work& work, int from, int to) {
    return static_cast<unsigned char>(work.collective == Collective::alltoall ? 16 * from + to + 1
                                                                              : from + 1);
  }

  void fill(const Work& work, Memory& sent) const {
    if (is_reduction(work.collective)) {
      const std::vector<float> values(work.bytes / 4, static_cast<float>(rank_ + 1));
      sent.write(0, values.data(), work.bytes);
      return;
    }
    const bool sends_blocks = work.collective == Collective::alltoall;
    for (int to = 0; to < (sends_blocks ? size_ : 1); ++to) {
      require(cudaMemset(sent.data() + static_cast<std::size_t>(to) * work.bytes, value(work, rank_, to),
                         work.bytes),
              "fill a buffer");
    }
    require(cudaDeviceSynchronize(), "fill a buffer");
  }

  void check(const Work& work, const Memory& sent, const Memory& received, const char* whose) const {
    bool is_right = true;
    if (is_reduction(work.collective)) {
      const bool is_whole = work.collective != Collective::reduce_scatter;
      std::vector<float> values(work.bytes / 4 / (is_whole ? 1 : static_cast<std::size_t>(size_)));
      received.read(0, values.data(), values.size() * 4);
      const int ranks = work.collective == Collective::scan ? rank_ + 1 : size_;
      const auto expected = static_cast<float>(ranks * (ranks + 1) / 2);
      is_right = std::ranges::all_of(values, [&](float one) { return one == expected; });
    } else {
      const bool is_bcast = work.collective == Collective::bcast;
      const Memory& result = is_bcast ? sent : received;
      std::vector<unsigned char> bytes(result.size());
      result.read(0, bytes.data(), bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        const int from = is_bcast ? root : static_cast<int>(i / work.bytes);
        is_right = is_right && bytes[i] == value(work, from, rank_);
      }
    }
    if (is_right) return;
    std::fprintf(stderr, "rank %d: %s of %llu bytes by %s arrived damaged\n", rank_,
                 names[static_cast<std::size_t>(work.collective)],
                 static_cast<unsigned long long>(work.bytes), whose);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  MPI_Comm control_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<NcclLibrary> nccl_;
};

void measure(benchmark::State& state, Ranks& ranks, Work work) {
  for (auto iteration : state) {
    const Figures figures = ranks.perform(work);
    state.SetIterationTime(figures.mpi_s);
    state.counters["us"] = figures.mpi_s * 1e6;
    if (!ranks.has_nccl()) continue;
    state.counters["nccl_us"] = figures.nccl_s * 1e6;
    state.counters["of_nccl"] = figures.mpi_s / figures.nccl_s;
  }
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"Collectives on device buffers, beside NCCL's"};
  app.allow_extras();
  app.add_option("--sizes", options.sizes, "in bytes")->delimiter(',')->transform(CLI::AsSizeValue(false));
  app.add_option("--samples", options.samples, "of which the median is taken; 0: by size")
      ->capture_default_str();
  app.add_option("--facts", options.facts_path, "JSON object to put beside the figures (date, GPU, …)");
  Ranks ranks;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ranks.is_leader() ? app.exit(error) : error.get_exit_code();
  }
  Work work;
  if (!ranks.is_leader()) {
    do {
      ranks.perform(work);
    } while (work.samples != 0);
    return 0;
  }
  const bool started = start_framework(app.remaining(), options.facts_path);
  if (started) {
    benchmark::AddCustomContext("mpi", mpi_version());
    for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
      if (form == Form::persistent && MPI_VERSION < 4) continue;
      for (const Collective collective :
           {Collective::bcast, Collective::allgather, Collective::alltoall, Collective::allreduce,
            Collective::reduce_scatter, Collective::scan}) {
        for (const std::uint64_t bytes : options.sizes) {
          const int by_size = bytes > (4u << 20) ? 15 : 200;
          const Work point{collective, bytes, options.samples != 0 ? options.samples : by_size, form};
          const std::string name = prefixes[static_cast<std::size_t>(form)] +
                                   std::string(names[static_cast<std::size_t>(collective)]) + '/' +
                                   std::to_string(bytes);
          benchmark::RegisterBenchmark(name.c_str(), measure, std::ref(ranks), point)
              ->Iterations(1)
              ->UseManualTime()
              ->Unit(benchmark::kMicrosecond);
        }
      }
    }
    benchmark::RunSpecifiedBenchmarks();
  }
  ranks.perform(work);
  return started ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
