#include "tests/examples/gmh/graph.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <random>

namespace gmh_tests {
namespace {

constexpr int memories = 4;
/// The elements of each memory, the same on all ranks. A message connects memories of the same index. The
/// last one is as large as messages in pieces only now and then: it takes most of the time.
constexpr int sizes[memories] = {1, 64, 1500, 5000};
constexpr int large_size = 40000;

/// The two sides of a memory. Staged messages pass through the shadow, so all messages count as writers of
/// it.
enum Side { gpu, shadow };

/// The last writer of a memory's side, and its readers since.
struct Use {
  int writer = -1;
  std::vector<int> readers;
};

using RankUses = std::array<std::array<Use, 2>, memories>;

class Generator {
 public:
  Generator(std::uint64_t seed, int ranks) : random_(seed) {
    graph_.streams = pick(1, 4);
    graph_.ranks.resize(static_cast<std::size_t>(ranks));
    uses_.resize(static_cast<std::size_t>(ranks));
    const bool is_large = pick(1, 16) == 1;
    std::uint32_t element = word();
    for (RankProgram& rank : graph_.ranks) {
      for (int memory = 0; memory < memories; ++memory) {
        const int size = is_large && memory == memories - 1 ? large_size : sizes[memory];
        rank.first.emplace_back(static_cast<std::size_t>(size));
        for (std::uint32_t& each : rank.first.back()) each = element = mixed(element, element >> 15, 1);
      }
      rank.expected = rank.first;
    }
  }

  Graph make(int runs) {
    const int steps = pick(5, 40);
    static_assert(40 <= tags_of_graph);  // a message a step
    for (int step = 0; step < steps; ++step) add_step();
    for (int run = 0; run < runs; ++run) {
      for (const auto& effect : effects_) effect();
    }
    return std::move(graph_);
  }

 private:
  using Elements = std::vector<std::uint32_t>;

  int pick(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }
  int some_rank() { return pick(0, static_cast<int>(graph_.ranks.size()) - 1); }
  RankProgram& program(int rank) { return graph_.ranks[static_cast<std::size_t>(rank)]; }
  Elements& elements(int rank, int memory) {
    return program(rank).expected[static_cast<std::size_t>(memory)];
  }

  void add_step() {
    const int kind = pick(0, 39);
    if (kind < 14) {
      add_kernel(some_rank(), pick(0, memories - 1), pick(0, memories - 1));
    } else if (kind < 20) {
      add_cpu_task(some_rank(), pick(0, memories - 1));
    } else if (kind < 39) {
      add_message(some_rank(), some_rank(), pick(0, memories - 1));
    } else {  // rare, since processes that are more than cores meet slowly
      add_collective(pick(0, 2), pick(0, memories - 1));
    }
  }

  Task task(TaskKind kind, int target) {
    return {kind, pick(0, graph_.streams - 1), target, target, word(), -1, 0, pick(0, 1) == 0, {}};
  }

  Use& use(int rank, int memory, Side side) {
    return uses_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(memory)][side];
  }

  /// Adds a wait. If the stream's order suffices, half of the waits are left out.
  void wait(int rank, Task& task, int earlier) {
    const Task& before = program(rank).tasks[static_cast<std::size_t>(earlier)];
    const bool is_message = before.kind == TaskKind::send || before.kind == TaskKind::receive;
    const bool in_order = before.stream == task.stream && (!is_message || before.blocks);
    if (!(in_order && pick(0, 1) == 0)) task.waits.push_back(earlier);
  }
  void reads(int rank, Task& task, int memory, Side side) {
    Use& used = use(rank, memory, side);
    if (used.writer >= 0) wait(rank, task, used.writer);
    used.readers.push_back(static_cast<int>(program(rank).tasks.size()));
  }
  void writes(int rank, Task& task, int memory, Side side) {
    const int own = static_cast<int>(program(rank).tasks.size());
    Use& used = use(rank, memory, side);
    if (used.writer >= 0 && used.writer != own) wait(rank, task, used.writer);
    for (const int reader : used.readers) {
      if (reader != own) wait(rank, task, reader);
    }
    used = {own, {}};
  }
  void append(int rank, Task task) { program(rank).tasks.push_back(std::move(task)); }

  void add_kernel(int rank, int target, int source) {
    Task kernel = task(TaskKind::kernel, target);
    kernel.source = source;
    reads(rank, kernel, source, gpu);
    writes(rank, kernel, target, gpu);
    effects_.emplace_back([this, rank, target, source, constant = kernel.constant] {
      const Elements from = elements(rank, source);
      Elements& to = elements(rank, target);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = mixed(to[i], from[i % from.size()], constant);
    });
    append(rank, std::move(kernel));
  }

  /// Adds a CPU task and the copies that bring its memory to the host and back.
  void add_cpu_task(int rank, int memory) {
    Task down = task(TaskKind::to_host, memory);
    reads(rank, down, memory, gpu);
    writes(rank, down, memory, shadow);
    append(rank, std::move(down));
    Task work = task(TaskKind::cpu_task, memory);
    writes(rank, work, memory, shadow);
    effects_.emplace_back([this, rank, memory, constant = work.constant] {
      for (std::uint32_t& element : elements(rank, memory)) element = mixed(element, element, constant);
    });
    append(rank, std::move(work));
    Task up = task(TaskKind::to_gpu, memory);
    reads(rank, up, memory, shadow);
    writes(rank, up, memory, gpu);
    append(rank, std::move(up));
  }

  void add_message(int from, int to, int memory) {
    if (from == to) return;  // a rank has each memory once
    const int tag = next_tag_++;
    Task send = task(TaskKind::send, memory);
    send.peer = to;
    send.tag = tag;
    reads(from, send, memory, gpu);
    writes(from, send, memory, shadow);
    append(from, std::move(send));
    Task receive = task(TaskKind::receive, memory);
    receive.peer = from;
    receive.tag = tag;
    writes(to, receive, memory, gpu);
    writes(to, receive, memory, shadow);
    append(to, std::move(receive));
    effects_.emplace_back([this, from, to, memory] { elements(to, memory) = elements(from, memory); });
  }

  /// Adds a collective, which orders all tasks before it and after it.
  void add_collective(int kind, int memory) {
    const int root = some_rank();
    for (int rank = 0; rank < static_cast<int>(graph_.ranks.size()); ++rank) {
      Task collective = task(kind == 0   ? TaskKind::allreduce
                             : kind == 1 ? TaskKind::bcast
                                         : TaskKind::barrier,
                             memory);
      collective.stream = -1;
      collective.peer = root;
      append(rank, std::move(collective));
      for (auto& of_memory : uses_[static_cast<std::size_t>(rank)]) {
        for (Use& used : of_memory) used = {};
      }
    }
    if (kind == 0) {
      effects_.emplace_back([this, memory] {
        Elements sum(elements(0, memory).size(), 0);
        for (int rank = 0; rank < static_cast<int>(graph_.ranks.size()); ++rank)
          std::transform(sum.begin(), sum.end(), elements(rank, memory).begin(), sum.begin(), std::plus<>());
        for (int rank = 0; rank < static_cast<int>(graph_.ranks.size()); ++rank) elements(rank, memory) = sum;
      });
    } else if (kind == 1) {
      effects_.emplace_back([this, memory, root] {
        for (int rank = 0; rank < static_cast<int>(graph_.ranks.size()); ++rank) {
          if (rank != root) elements(rank, memory) = elements(root, memory);
        }
      });
    }
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<RankUses> uses_;
  std::vector<std::function<void()>> effects_;
  int next_tag_ = 0;
};

}  // namespace

Graph random_graph(std::uint64_t seed, int ranks, int runs) {
  return Generator(seed, ranks).make(runs);
}

}  // namespace gmh_tests
