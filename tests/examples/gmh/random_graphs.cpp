// Runs random task graphs on GMH ranks and compares the results with sequential execution.
//   random_graphs GPUS_A_PROCESS FIRST_SEED SEEDS GRAPHS_A_LAUNCH
// FIRST_SEED is a number, or date+N, of this day's own. Graphs of a launch run together, as one list a rank:
// while some wait, others go on, so that processes that are more than cores take turns less often.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "examples/gmh/gmh.h"
#include "tests/examples/gmh/graph.hpp"
#include "tests/examples/gmh/graph_kernel.hpp"
#include "tests/support/job_exit_code.hpp"
#include "tests/support/seed_of_today.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using namespace gmh_tests;

struct Settings {
  int gpus;
  std::uint64_t first_seed;
  std::uint64_t seeds;
  std::uint64_t graphs_of_launch;
  std::atomic<int> wrong{0};
  std::vector<Graph> graphs;  ///< of the current launch: the process's threads make some each
};

void require(int code) {
  if (code != GMH_OK) throw std::runtime_error(gmh_error_string(code));
}

/// A rank's part of a graph: its memories, streams and commands in a list, and the check of its results.
class GraphPart {
 public:
  GraphPart(gmh_tasklist_t list, const Graph& graph, const RankProgram& program, int first_tag)
      : list_(list), program_(program), first_tag_(first_tag) {
    for (int i = 0; i < graph.streams; ++i)
      require(
          gmh_create_command_stream(list_, &streams_.emplace_back(), i % 2 == 0 ? GMH_NORMAL : GMH_URGENT));
    for (const auto& first : program.first) {
      Memory memory{};
      require(gmh_mem_create(list_, first.size() * sizeof first[0], GMH_READ | GMH_WRITE, GMH_WITH_SHADOW,
                             &memory.handle));
      require(gmh_mem_pointers(memory.handle, &memory.gpu, &memory.host, nullptr));
      memory.count = static_cast<int>(first.size());
      if (cudaMemcpy(memory.gpu, first.data(), first.size() * sizeof first[0], cudaMemcpyHostToDevice) !=
          cudaSuccess)
        throw std::runtime_error("cannot fill a memory");
      memories_.push_back(memory);
    }
  }
  GraphPart(const GraphPart&) = delete;
  GraphPart& operator=(const GraphPart&) = delete;

  /// Adds what comes before the next collective.
  void add_until_collective() {
    while (next_ < program_.tasks.size() && !is_collective(program_.tasks[next_]))
      add(program_.tasks[next_++]);
  }
  /// Adds the collective that is next. Returns whether there is one.
  bool add_collective() {
    if (next_ == program_.tasks.size()) return false;
    add(program_.tasks[next_++]);
    return true;
  }

  [[nodiscard]] bool is_right() const {
    bool all = true;
    for (std::size_t i = 0; i < memories_.size(); ++i) {
      std::vector<std::uint32_t> found(program_.expected[i].size());
      if (cudaMemcpy(found.data(), memories_[i].gpu, found.size() * sizeof found[0],
                     cudaMemcpyDeviceToHost) != cudaSuccess)
        throw std::runtime_error("cannot read a memory");
      all = all && found == program_.expected[i];
    }
    return all;
  }

  /// Once the list is freed.
  void free_memories() const {
    for (const Memory& memory : memories_) gmh_mem_free(memory.handle);
  }

 private:
  struct Memory {
    gmh_mem_t handle;
    void* gpu;
    void* host;
    int count;
  };
  /// Arguments of kernels and CPU tasks.
  struct Work {
    const Memory* target;
    const Memory* source;
    std::uint32_t constant;
  };

  static int run_kernel(cudaStream_t stream, void* argument) {
    const Work& work = *static_cast<const Work*>(argument);
    return queue_mix(stream, static_cast<std::uint32_t*>(work.target->gpu), work.target->count,
                     static_cast<const std::uint32_t*>(work.source->gpu), work.source->count, work.constant);
  }
  static int run_cpu_task(void* argument) {
    const Work& work = *static_cast<const Work*>(argument);
    auto* const elements = static_cast<std::uint32_t*>(work.target->host);
    for (int i = 0; i < work.target->count; ++i) elements[i] = mixed(elements[i], elements[i], work.constant);
    return 0;
  }
  static bool is_collective(const Task& task) { return task.stream < 0; }

  void add(const Task& task) {
    std::vector<gmh_event_t> waits;
    for (const int wait : task.waits) waits.push_back(events_[static_cast<std::size_t>(wait)]);
    const int count = static_cast<int>(waits.size());
    gmh_event_t* const event = &events_.emplace_back();
    gmh_stream_t const stream = task.stream < 0 ? nullptr : streams_[static_cast<std::size_t>(task.stream)];
    const Memory& target = memories_[static_cast<std::size_t>(task.target)];
    works_.push_back({&target, &memories_[static_cast<std::size_t>(task.source)], task.constant});
    switch (task.kind) {
      case TaskKind::kernel:
        return require(
            gmh_add_gpu_kernel(list_, stream, run_kernel, &works_.back(), count, waits.data(), event));
      case TaskKind::cpu_task:
        return require(
            gmh_add_cpu_task(list_, stream, run_cpu_task, &works_.back(), count, waits.data(), event));
      case TaskKind::to_host:
        return require(gmh_add_copy(list_, stream, target.handle, GMH_TO_HOST, count, waits.data(), event));
      case TaskKind::to_gpu:
        return require(gmh_add_copy(list_, stream, target.handle, GMH_TO_GPU, count, waits.data(), event));
      case TaskKind::send:
        return require(gmh_add_send_buffer(list_, stream, target.handle, task.blocks ? 1 : 0, task.peer,
                                           first_tag_ + task.tag, count, waits.data(), event));
      case TaskKind::receive:
        return require(gmh_add_recv_buffer(list_, stream, target.handle, task.blocks ? 1 : 0, task.peer,
                                           first_tag_ + task.tag, count, waits.data(), event));
      case TaskKind::allreduce:
        return require(gmh_add_allreduce(list_, target.handle, target.handle, GMH_INT, GMH_SUM, event));
      case TaskKind::bcast:
        return require(gmh_add_bcast(list_, target.handle, task.peer, event));
      case TaskKind::barrier:
        return require(gmh_add_barrier(list_, event));
    }
  }

  gmh_tasklist_t list_;
  const RankProgram& program_;
  int first_tag_;
  std::size_t next_ = 0;
  std::vector<gmh_stream_t> streams_;
  std::vector<Memory> memories_;
  std::deque<gmh_event_t> events_;
  std::deque<Work> works_;
};

/// A rank's list of several graphs. Collectives come in the same order on all ranks: the first of each graph,
/// then the second ones.
class Launch {
 public:
  Launch(gmh_tasklist_t thread_list, const std::vector<Graph>& graphs, std::size_t rank, int runs)
      : runs_left_(runs) {
    require(gmh_create_tasklist(thread_list, &list_));
    for (std::size_t i = 0; i < graphs.size(); ++i)
      parts_.emplace_back(list_, graphs[i], graphs[i].ranks[rank], static_cast<int>(i) * tags_of_graph);
    for (bool any_is_left = true; any_is_left;) {
      any_is_left = false;
      for (GraphPart& part : parts_) part.add_until_collective();
      for (GraphPart& part : parts_) any_is_left = part.add_collective() || any_is_left;
    }
    require(gmh_add_control_task(list_, count_run, this));
  }
  ~Launch() {
    gmh_free_tasklist(list_);
    for (const GraphPart& part : parts_) part.free_memories();
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  void run() { require(gmh_start(list_)); }
  [[nodiscard]] bool is_right(std::size_t graph) const { return parts_[graph].is_right(); }

 private:
  static int count_run(void* launch) {
    return --static_cast<Launch*>(launch)->runs_left_ > 0 ? GMH_RERUN : GMH_EXIT;
  }

  int runs_left_;
  gmh_tasklist_t list_ = nullptr;
  std::deque<GraphPart> parts_;
};

void run_launch(gmh_tasklist_t list, Settings& settings, std::uint64_t first, std::uint64_t count) {
  int rank = 0;
  int ranks = 1;
  int vgpu = 0;
  require(gmh_rank(list, &rank));
  require(gmh_size(list, &ranks));
  require(gmh_vgpu(list, rank, &vgpu));
  const int runs = 1 + static_cast<int>(first % 3);
  if (vgpu == 0) {
    penstock::test_support::progress("seeds %llu to %llu", static_cast<unsigned long long>(first),
                                     static_cast<unsigned long long>(first + count - 1));
    settings.graphs.resize(count);
  }
  require(gmh_Barrier(list));
  for (auto i = static_cast<std::uint64_t>(vgpu); i < count; i += static_cast<std::uint64_t>(settings.gpus))
    settings.graphs[i] = random_graph(first + i, ranks, runs);
  require(gmh_Barrier(list));
  Launch launch(list, settings.graphs, static_cast<std::size_t>(rank), runs);
  launch.run();
  for (std::size_t i = 0; i < count; ++i) {
    if (launch.is_right(i)) continue;
    ++settings.wrong;
    std::fprintf(stderr,
                 "seed %llu: rank %d of %d has a wrong result; of a launch of %llu from seed %llu on\n",
                 static_cast<unsigned long long>(first + i), rank, ranks,
                 static_cast<unsigned long long>(count), static_cast<unsigned long long>(first));
  }
  require(gmh_Barrier(list));
}

void* run_seeds(gmh_tasklist_t list, void* argument) {
  auto& settings = *static_cast<Settings*>(argument);
  for (std::uint64_t done = 0; done < settings.seeds; done += settings.graphs_of_launch)
    run_launch(list, settings, settings.first_seed + done,
               std::min(settings.graphs_of_launch, settings.seeds - done));
  return nullptr;
}

/// The processes take rank 0's: they may read the date on both sides of midnight.
std::uint64_t first_seed_of(const char* argument) {
  constexpr std::string_view date = "date+";
  std::uint64_t seed =
      std::string_view(argument).starts_with(date)
          ? penstock::test_support::first_seed_of_today() + std::strtoull(argument + date.size(), nullptr, 10)
          : std::strtoull(argument, nullptr, 10);
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return seed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  Settings settings{std::atoi(argv[1]), first_seed_of(argv[2]), std::strtoull(argv[3], nullptr, 10),
                    std::strtoull(argv[4], nullptr, 10)};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(settings.first_seed),
                static_cast<unsigned long long>(settings.first_seed + settings.seeds - 1));
  penstock::test_support::watch(rank, 60);
  const int code = gmh_init(&argc, &argv, settings.gpus, run_seeds, &settings);
  if (code != GMH_OK) std::fprintf(stderr, "process %d: %s\n", rank, gmh_error_string(code));
  const int exit_code = penstock::test_support::job_exit_code(code != GMH_OK || settings.wrong != 0 ? 1 : 0);
  MPI_Finalize();
  return exit_code;
}
