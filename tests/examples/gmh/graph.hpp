// Random task graphs: programs of several ranks, a pure function of the seed, with the results of sequential
// execution. This file knows no GPU and no MPI.
#pragma once

#include <cstdint>
#include <vector>

namespace gmh_tests {

enum class TaskKind { kernel, cpu_task, to_host, to_gpu, send, receive, allreduce, bcast, barrier };

/// A command of a rank's list.
struct Task {
  TaskKind kind;
  int stream;              ///< negative for collectives
  int target;              ///< memory that is written or sent
  int source;              ///< memory that a kernel reads besides
  std::uint32_t constant;  ///< of a kernel's or CPU task's function
  int peer;                ///< other rank, or root
  int tag;
  bool blocks;
  std::vector<int> waits;  ///< indices of tasks of the same list
};

struct RankProgram {
  std::vector<Task> tasks;
  std::vector<std::vector<std::uint32_t>> first;     ///< initial contents of the memories
  std::vector<std::vector<std::uint32_t>> expected;  ///< after all runs of the list
};

struct Graph {
  int streams;
  std::vector<RankProgram> ranks;
};

/// Returns the result of a kernel, and, for source = target, of a CPU task.
inline std::uint32_t mixed(std::uint32_t target, std::uint32_t source, std::uint32_t constant) {
  return target * 2654435761u + (source ^ constant);
}

/// More than any task's.
constexpr int tags_of_graph = 64;

/// The list runs so many times.
[[nodiscard]] Graph random_graph(std::uint64_t seed, int ranks, int runs);

}  // namespace gmh_tests
