// Collectives on device buffers, beside NCCL's in the same processes and by turns. Rank k uses device k
// modulo how many there are; NCCL has no figure where ranks share a GPU.
//   mpiexec.mpich -n 2 penstock run collective_benchmark_mpich
// Names are collective/bytes: of the vector in bcast and the reductions, of a rank's block in gather, scatter
// and allgather, of the block from each rank to each in alltoall; those with a v give every second rank half
// as much; those that begin with an i are MPI's non-blocking calls, those with persistent_ are started, and
// both waited for at once. NCCL has no scan; beside it stands a reduce_scatter, and beside those with a v
// what moves equal blocks. A figure is the time from a barrier to the last rank's end.
//
// Reductions of another element type, or from or into host memory, without figures of NCCL:
//   … collective_benchmark_mpich --type char
//   … collective_benchmark_mpich --send pageable --receive device --benchmark_filter=reduce/16777216
// Beside those of mixed memory stands what a program would do by hand: copy to the device, reduce there, copy
// back.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/benchmarks/framework.hpp"
#include "tests/benchmarks/nccl_library.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/benchmarks/two_ranks.hpp"
#include "tests/support/memory.hpp"

namespace {

using namespace penstock::benchmarks;
using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

enum class Collective : int {
  bcast,
  gather,
  scatter,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce,
  allreduce,
  reduce_scatter,
  scan
};
constexpr std::array names = {"bcast",     "gather", "scatter",   "allgather",      "allgatherv", "alltoall",
                              "alltoallv", "reduce", "allreduce", "reduce_scatter", "scan"};
constexpr bool is_reduction(Collective collective) {
  return collective >= Collective::reduce;
}
constexpr bool sends_blocks(Collective collective) {
  return collective == Collective::scatter || collective == Collective::alltoall ||
         collective == Collective::alltoallv;
}
constexpr bool receives_blocks(Collective collective) {
  return collective == Collective::gather || collective == Collective::allgather ||
         collective == Collective::allgatherv || collective == Collective::alltoall ||
         collective == Collective::alltoallv;
}

/// MPI's functions of one form: what follows the arguments of the blocking one.
template <class... Following>
struct Functions {
  template <class... Arguments>
  using Function = int (*)(Arguments..., Following...);
  using Block = Function<const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm>;
  using RootedBlock = Function<const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm>;
  using Reduction = Function<const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm>;

  Function<void*, int, MPI_Datatype, int, MPI_Comm> bcast;
  RootedBlock gather;
  RootedBlock scatter;
  Block allgather;
  Function<const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, MPI_Comm> allgatherv;
  Block alltoall;
  Function<const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
           MPI_Comm>
      alltoallv;
  Function<const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm> reduce;
  Reduction allreduce;
  Reduction reduce_scatter;
  Reduction scan;
};
constexpr Functions<> calls = {
    MPI_Bcast,    MPI_Gather,    MPI_Scatter, MPI_Allgather, MPI_Allgatherv,
    MPI_Alltoall, MPI_Alltoallv, MPI_Reduce,  MPI_Allreduce, MPI_Reduce_scatter_block,
    MPI_Scan};
constexpr Functions<MPI_Request*> nonblocking_calls = {
    MPI_Ibcast,    MPI_Igather,    MPI_Iscatter, MPI_Iallgather, MPI_Iallgatherv,
    MPI_Ialltoall, MPI_Ialltoallv, MPI_Ireduce,  MPI_Iallreduce, MPI_Ireduce_scatter_block,
    MPI_Iscan};
#if PENSTOCK_HAS_MPI_4
constexpr Functions<MPI_Info, MPI_Request*> persistent_calls = {
    MPI_Bcast_init,      MPI_Gather_init,
    MPI_Scatter_init,    MPI_Allgather_init,
    MPI_Allgatherv_init, MPI_Alltoall_init,
    MPI_Alltoallv_init,  MPI_Reduce_init,
    MPI_Allreduce_init,  MPI_Reduce_scatter_block_init,
    MPI_Scan_init};
#endif

enum class Form : int { blocking, nonblocking, persistent };
constexpr std::array prefixes = {"", "i", "persistent_"};

/// What all ranks do next; `samples` 0: stop.
struct Work {
  Collective collective = Collective::bcast;
  std::uint64_t bytes = 0;
  int samples = 0;
  Form form = Form::blocking;
};

constexpr std::array types = {"float", "char", "int", "double", "long"};
constexpr std::array kinds = {MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned,
                              MemoryKind::managed};

/// Of reductions; all ranks are given the same.
struct Elements {
  std::string type = "float";
  std::string send = "device";
  std::string receive = "device";

  [[nodiscard]] bool are_usual() const { return *this == Elements(); }
  [[nodiscard]] bool are_mixed() const { return send != "device" || receive != "device"; }
  [[nodiscard]] MPI_Datatype handle() const {
    if (type == "char") return MPI_CHAR;
    if (type == "int") return MPI_INT;
    if (type == "double") return MPI_DOUBLE;
    return type == "long" ? MPI_LONG : MPI_FLOAT;
  }
  [[nodiscard]] std::size_t bytes() const {
    if (type == "char") return 1;
    return type == "double" || type == "long" ? 8 : 4;
  }
  [[nodiscard]] static MemoryKind kind(const std::string& name) {
    return *std::ranges::find(kinds, name, [](MemoryKind one) { return std::string(name_of(one)); });
  }
  bool operator==(const Elements&) const = default;
};

struct Options {
  Elements elements;
  std::vector<std::uint64_t> sizes{8, 1024, 4096, 32 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20};
  int samples = 0;  ///< 0: by size
  std::string facts_path;
};

/// Medians over the samples, each that of the slowest rank.
struct Figures {
  double mpi_s = 0;
  double nccl_s = 0;     ///< 0: not measured, as the next one
  double by_hand_s = 0;  ///< of mixed memory
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

  void take(const Elements& elements) { elements_ = elements; }
  [[nodiscard]] bool is_leader() const noexcept { return rank_ == 0; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool has_nccl() const noexcept { return nccl_->is_there(); }

  /// Rank 0's `work` is done by all.
  Figures perform(Work& work) {
    MPI_Bcast(&work, sizeof work, MPI_BYTE, 0, control_);
    if (work.samples == 0) return {};
    const std::size_t blocks = static_cast<std::size_t>(size_);
    const bool reduces = is_reduction(work.collective);
    const auto kind_of = [&](const std::string& name) {
      return reduces ? Elements::kind(name) : MemoryKind::device;
    };
    Memory sent(kind_of(elements_.send), work.bytes * (sends_blocks(work.collective) ? blocks : 1), device_);
    Memory received(kind_of(elements_.receive), work.bytes * (receives_blocks(work.collective) ? blocks : 1),
                    device_);
    lay_out(work);
    fill(work, sent);
    Figures figures;
    if (has_nccl() && (!reduces || elements_.are_usual())) {
      figures.nccl_s = time(work.samples, [&] { run_nccl(work, sent, received); });
      const bool is_the_same = work.collective != Collective::scan && !has_counts(work.collective);
      if (is_the_same) check(work, sent, received, "NCCL");
    }
    if (reduces && elements_.are_mixed() && work.form == Form::blocking)
      figures.by_hand_s = time_by_hand(work, sent, received);
    fill(work, sent);
    clear(received);
    MPI_Request request = MPI_REQUEST_NULL;
#if PENSTOCK_HAS_MPI_4
    if (work.form == Form::persistent) call(persistent_calls, work, sent, received, MPI_INFO_NULL, &request);
#endif
    figures.mpi_s = time(work.samples, [&] {
      switch (work.form) {
        case Form::blocking:
          call(calls, work, sent, received);
          break;
        case Form::nonblocking:
          call(nonblocking_calls, work, sent, received, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
          break;
        case Form::persistent:
          MPI_Start(&request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    });
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
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

  /// By buffers on the device, made before.
  double time_by_hand(const Work& work, Memory& sent, Memory& received) {
    Memory own(MemoryKind::device, sent.size(), device_);
    Memory result(MemoryKind::device, received.size(), device_);
    const bool is_root = work.collective != Collective::reduce || rank_ == root;
    const std::size_t bytes = work.collective == Collective::reduce_scatter
                                  ? work.bytes / static_cast<std::size_t>(size_)
                                  : work.bytes;
    fill(work, sent);
    clear(received);
    const bool from_device = sent.kind() == MemoryKind::device;
    const bool to_device = received.kind() == MemoryKind::device;
    const double seconds = time(work.samples, [&] {
      if (!from_device)
        require(cudaMemcpy(own.data(), sent.data(), work.bytes, cudaMemcpyDefault), "copy up");
      call(calls, work, from_device ? sent : own, to_device ? received : result);
      if (!to_device && is_root)
        require(cudaMemcpy(received.data(), result.data(), bytes, cudaMemcpyDefault), "copy down");
    });
    check(work, sent, received, "hand");
    return seconds;
  }

  static void clear(Memory& memory) {
    const std::vector<std::byte> zeros(memory.size());
    memory.write(0, zeros.data(), zeros.size());
  }

  static constexpr bool has_counts(Collective collective) {
    return collective == Collective::allgatherv || collective == Collective::alltoallv;
  }
  /// Of the blocks from or to each rank where they have counts of their own; whole elements.
  void lay_out(const Work& work) {
    sent_counts_.clear();
    received_counts_.clear();
    displacements_.clear();
    for (int rank = 0; rank < size_; ++rank) {
      const auto part = [&](int from, int to) {
        return static_cast<int>((from + to) % 2 == 0 ? work.bytes : work.bytes / 2);
      };
      const bool is_for_all = work.collective == Collective::allgatherv;
      sent_counts_.push_back(part(rank_, rank));
      received_counts_.push_back(is_for_all ? part(rank, 0) : part(rank, rank_));
      displacements_.push_back(
          rank == 0 ? 0 : displacements_.back() + received_counts_[static_cast<std::size_t>(rank) - 1]);
    }
  }

  template <class... Following>
  void call(const Functions<Following...>& mpi, const Work& work, const Memory& sent, const Memory& received,
            Following... following) const {
    const int count = static_cast<int>(work.bytes);
    const int elements = count / static_cast<int>(elements_.bytes());
    const MPI_Datatype element = elements_.handle();
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_BYTE;
    std::byte* const from = sent.data();
    std::byte* const to = received.data();
    switch (work.collective) {
      case Collective::bcast:
        mpi.bcast(from, count, type, root, all, following...);
        break;
      case Collective::gather:
        mpi.gather(from, count, type, to, count, type, root, all, following...);
        break;
      case Collective::scatter:
        mpi.scatter(from, count, type, to, count, type, root, all, following...);
        break;
      case Collective::allgather:
        mpi.allgather(from, count, type, to, count, type, all, following...);
        break;
      case Collective::allgatherv:
        mpi.allgatherv(from, received_counts_[static_cast<std::size_t>(rank_)], type, to,
                       received_counts_.data(), displacements_.data(), type, all, following...);
        break;
      case Collective::alltoall:
        mpi.alltoall(from, count, type, to, count, type, all, following...);
        break;
      case Collective::alltoallv:  // as much from each rank as to it
        mpi.alltoallv(from, sent_counts_.data(), displacements_.data(), type, to, received_counts_.data(),
                      displacements_.data(), type, all, following...);
        break;
      case Collective::reduce:
        mpi.reduce(from, to, elements, element, MPI_SUM, root, all, following...);
        break;
      case Collective::allreduce:
        mpi.allreduce(from, to, elements, element, MPI_SUM, all, following...);
        break;
      case Collective::reduce_scatter:
        mpi.reduce_scatter(from, to, elements / size_, element, MPI_SUM, all, following...);
        break;
      case Collective::scan:
        mpi.scan(from, to, elements, element, MPI_SUM, all, following...);
        break;
    }
  }

  void run_nccl(const Work& work, const Memory& sent, const Memory& received) const {
    const NcclFunctions& nccl = nccl_->call();
    void* const all = nccl_->communicator();
    switch (work.collective) {
      case Collective::bcast:
        nccl.broadcast(sent.data(), sent.data(), work.bytes, NcclFunctions::int8, root, all, stream_);
        break;
      case Collective::gather:
      case Collective::scatter: {
        const bool gathers = work.collective == Collective::gather;
        nccl.group_start();
        for (int peer = 0; rank_ == root && peer < size_; ++peer) {
          const std::size_t offset = static_cast<std::size_t>(peer) * work.bytes;
          if (gathers) {
            nccl.receive(received.data() + offset, work.bytes, NcclFunctions::int8, peer, all, stream_);
          } else {
            nccl.send(sent.data() + offset, work.bytes, NcclFunctions::int8, peer, all, stream_);
          }
        }
        if (gathers) {
          nccl.send(sent.data(), work.bytes, NcclFunctions::int8, root, all, stream_);
        } else {
          nccl.receive(received.data(), work.bytes, NcclFunctions::int8, root, all, stream_);
        }
        nccl.group_end();
        break;
      }
      case Collective::allgather:
      case Collective::allgatherv:
        nccl.all_gather(sent.data(), received.data(), work.bytes, NcclFunctions::int8, all, stream_);
        break;
      case Collective::alltoall:
      case Collective::alltoallv:
        nccl.group_start();
        for (int peer = 0; peer < size_; ++peer) {
          const std::size_t offset = static_cast<std::size_t>(peer) * work.bytes;
          nccl.send(sent.data() + offset, work.bytes, NcclFunctions::int8, peer, all, stream_);
          nccl.receive(received.data() + offset, work.bytes, NcclFunctions::int8, peer, all, stream_);
        }
        nccl.group_end();
        break;
      case Collective::reduce:
        nccl.reduce(sent.data(), received.data(), work.bytes / 4, NcclFunctions::float32, NcclFunctions::sum,
                    root, all, stream_);
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
    return static_cast<unsigned char>(sends_blocks(work.collective) ? 16 * from + to + 1 : from + 1);
  }

  /// Calls `use(one)` of the type of the reductions' elements.
  template <class Use>
  void with_elements(Use use) const {
    if (elements_.type == "char") return use(char{});
    if (elements_.type == "int") return use(int{});
    if (elements_.type == "double") return use(double{});
    if (elements_.type == "long") return use(long{});
    use(float{});
  }

  void fill(const Work& work, Memory& sent) const {
    if (is_reduction(work.collective)) {
      return with_elements([&](auto example) {
        const std::vector<decltype(example)> values(work.bytes / sizeof example,
                                                    static_cast<decltype(example)>(rank_ + 1));
        sent.write(0, values.data(), values.size() * sizeof example);
      });
    }
    const bool has_blocks = sends_blocks(work.collective);
    for (int to = 0; to < (has_blocks ? size_ : 1); ++to) {
      const auto block = static_cast<std::size_t>(to);
      const bool is_uneven = work.collective == Collective::alltoallv;
      const std::size_t first =
          is_uneven ? static_cast<std::size_t>(displacements_[block]) : block * work.bytes;
      const std::size_t bytes = is_uneven ? static_cast<std::size_t>(sent_counts_[block]) : work.bytes;
      require(cudaMemset(sent.data() + first, value(work, rank_, to), bytes), "fill a buffer");
    }
    require(cudaDeviceSynchronize(), "fill a buffer");
  }

  /// Of what has been received, in which rank's block that byte is; as many as there are ranks: in none.
  [[nodiscard]] int block_of(const Work& work, std::size_t byte) const {
    if (!has_counts(work.collective)) return static_cast<int>(byte / work.bytes);
    int block = size_ - 1;
    while (byte < static_cast<std::size_t>(displacements_[static_cast<std::size_t>(block)])) --block;
    const auto last = static_cast<std::size_t>(displacements_.back() + received_counts_.back());
    return byte < last ? block : size_;
  }

  void check(const Work& work, const Memory& sent, const Memory& received, const char* whose) const {
    bool is_right = true;
    const bool is_for_root = work.collective == Collective::reduce || work.collective == Collective::gather;
    if (is_for_root && rank_ != root) return;
    if (is_reduction(work.collective)) {
      const bool is_whole = work.collective != Collective::reduce_scatter;
      const int ranks = work.collective == Collective::scan ? rank_ + 1 : size_;
      with_elements([&](auto example) {
        using T = decltype(example);
        std::vector<T> values(work.bytes / sizeof(T) / (is_whole ? 1 : static_cast<std::size_t>(size_)));
        received.read(0, values.data(), values.size() * sizeof(T));
        const auto expected = static_cast<T>(ranks * (ranks + 1) / 2);
        is_right = std::ranges::all_of(values, [&](T one) { return one == expected; });
      });
    } else {
      const bool is_bcast = work.collective == Collective::bcast;
      const Memory& result = is_bcast ? sent : received;
      std::vector<unsigned char> bytes(result.size());
      result.read(0, bytes.data(), bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        const int block = block_of(work, i);
        if (block == size_) break;
        const int from = is_bcast || work.collective == Collective::scatter ? root : block;
        is_right = is_right && bytes[i] == value(work, from, rank_);
      }
    }
    if (is_right) return;
    std::fprintf(stderr, "rank %d: %s of %llu bytes by %s arrived damaged\n", rank_,
                 names[static_cast<std::size_t>(work.collective)],
                 static_cast<unsigned long long>(work.bytes), whose);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  Elements elements_;
  MPI_Comm control_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<NcclLibrary> nccl_;
  std::vector<int> sent_counts_;
  std::vector<int> received_counts_;
  std::vector<int> displacements_;  ///< of what is received; in alltoallv as much is sent
};

void measure(benchmark::State& state, Ranks& ranks, Work work) {
  for (auto iteration : state) {
    const Figures figures = ranks.perform(work);
    state.SetIterationTime(figures.mpi_s);
    state.counters["us"] = figures.mpi_s * 1e6;
    if (figures.by_hand_s > 0) {
      state.counters["by_hand_us"] = figures.by_hand_s * 1e6;
      state.counters["of_by_hand"] = figures.mpi_s / figures.by_hand_s;
    }
    if (figures.nccl_s == 0) continue;
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
  app.add_option("--type", options.elements.type, "of the reductions' elements")
      ->check(CLI::IsMember(std::vector<std::string>(types.begin(), types.end())))
      ->capture_default_str();
  std::vector<std::string> kind_names;
  for (const MemoryKind kind : kinds) kind_names.emplace_back(name_of(kind));
  for (auto& [name, kind] :
       {std::pair{"--send", &options.elements.send}, std::pair{"--receive", &options.elements.receive}}) {
    app.add_option(name, *kind, "what memory the reductions' vectors, or results, lie in")
        ->check(CLI::IsMember(kind_names))
        ->capture_default_str();
  }
  Ranks ranks;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ranks.is_leader() ? app.exit(error) : error.get_exit_code();
  }
  ranks.take(options.elements);
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
      for (std::size_t which = 0; which < names.size(); ++which) {
        const auto collective = static_cast<Collective>(which);
        if (!options.elements.are_usual() && !is_reduction(collective)) continue;
        // MPICH 4.0.2 itself fails with a persistent scatter on more than two ranks, which it does where
        // ranks share a GPU
        if (form == Form::persistent && collective == Collective::scatter && ranks.size() > 2) continue;
        for (const std::uint64_t bytes : options.sizes) {
          const int by_size = bytes > (4u << 20) ? 15 : 200;
          const Work point{collective, bytes, options.samples != 0 ? options.samples : by_size, form};
          const std::string name = prefixes[static_cast<std::size_t>(form)] + std::string(names[which]) +
                                   '/' + std::to_string(bytes);
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
