// Runs random task graphs on GMH ranks and compares the results with sequential execution.
//   random_graphs GPUS_A_PROCESS FIRST_SEED SEEDS
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>

#include "examples/gmh/gmh.h"
#include "tests/examples/gmh/graph.hpp"
#include "tests/examples/gmh/graph_kernel.hpp"
#include "tests/support/job_exit_code.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using namespace gmh_tests;

struct Settings {
  int gpus;
  std::uint64_t first_seed;
  std::uint64_t seeds;
  std::atomic<int> wrong{0};
};

void require(int code) {
  if (code != GMH_OK) throw std::runtime_error(gmh_error_string(code));
}

/// A rank's list, its memories, and the check of their contents.
class RankRun {
 public:
  RankRun(gmh_tasklist_t thread_list, const Graph& graph, const RankProgram& program)
      : program_(program), runs_left_(graph.runs) {
    require(gmh_create_tasklist(thread_list, &list_));
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
    for (const Task& task : program.tasks) add(task);
    require(gmh_add_control_task(list_, count_run, this));
  }
  ~RankRun() {
    gmh_free_tasklist(list_);
    for (const Memory& memory : memories_) gmh_mem_free(memory.handle);
  }
  RankRun(const RankRun&) = delete;
  RankRun& operator=(const RankRun&) = delete;

  [[nodiscard]] bool is_right() {
    require(gmh_start(list_));
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
  static int count_run(void* run) {
    return --static_cast<RankRun*>(run)->runs_left_ > 0 ? GMH_RERUN : GMH_EXIT;
  }

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
                                           task.tag, count, waits.data(), event));
      case TaskKind::receive:
        return require(gmh_add_recv_buffer(list_, stream, target.handle, task.blocks ? 1 : 0, task.peer,
                                           task.tag, count, waits.data(), event));
      case TaskKind::allreduce:
        return require(gmh_add_allreduce(list_, target.handle, target.handle, GMH_INT, GMH_SUM, event));
      case TaskKind::bcast:
        return require(gmh_add_bcast(list_, target.handle, task.peer, event));
      case TaskKind::barrier:
        return require(gmh_add_barrier(list_, event));
    }
  }

  const RankProgram& program_;
  int runs_left_;
  gmh_tasklist_t list_ = nullptr;
  std::vector<gmh_stream_t> streams_;
  std::vector<Memory> memories_;
  std::deque<gmh_event_t> events_;
  std::deque<Work> works_;
};

void* run_seeds(gmh_tasklist_t list, void* argument) {
  auto& settings = *static_cast<Settings*>(argument);
  int rank = 0;
  int ranks = 1;
  require(gmh_rank(list, &rank));
  require(gmh_size(list, &ranks));
  for (std::uint64_t i = 0; i < settings.seeds; ++i) {
    const std::uint64_t seed = settings.first_seed + i;
    int vgpu = 0;
    require(gmh_vgpu(list, rank, &vgpu));
    if (vgpu == 0) penstock::test_support::progress("seed %llu", static_cast<unsigned long long>(seed));
    const Graph graph = random_graph(seed, ranks);
    RankRun run(list, graph, graph.ranks[static_cast<std::size_t>(rank)]);
    if (run.is_right()) continue;
    ++settings.wrong;
    std::fprintf(stderr, "seed %llu: rank %d of %d has a wrong result\n",
                 static_cast<unsigned long long>(seed), rank, ranks);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Settings settings{std::atoi(argv[1]), std::strtoull(argv[2], nullptr, 10),
                    std::strtoull(argv[3], nullptr, 10)};
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  penstock::test_support::watch(rank, 60);
  const int code = gmh_init(&argc, &argv, settings.gpus, run_seeds, &settings);
  if (code != GMH_OK) std::fprintf(stderr, "process %d: %s\n", rank, gmh_error_string(code));
  const int exit_code = penstock::test_support::job_exit_code(code != GMH_OK || settings.wrong != 0 ? 1 : 0);
  MPI_Finalize();
  return exit_code;
}
