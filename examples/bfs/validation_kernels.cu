#include "examples/bfs/validation_kernels.hpp"

#include "examples/bfs/threads.hpp"

namespace bfs {
namespace {

constexpr std::int64_t edges_of_thread = 32;

__device__ void report(Violations* violations, int rule) {
  atomicAdd(&violations->of_rule[rule - 1], 1ull);
}

__device__ bool is_in_tree(const TreeView& tree, std::int64_t vertex) {
  return tree.parents[vertex] != not_in_tree;
}

/// Whether going from parent to parent ends at the root. In a tree that takes fewer steps than there are
/// vertices; in a cycle it takes more.
__device__ bool leads_to_root(const TreeView& tree, std::int64_t vertex, std::int64_t vertices) {
  for (std::int64_t step = 0; step < vertices; ++step) {
    if (vertex == tree.root) {
      return true;
    }
    const std::int64_t parent = tree.parents[vertex];
    if (parent < 0 || parent >= vertices || parent == vertex) {
      return false;
    }
    vertex = parent;
  }
  return false;
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

__global__ void check_edges(Kronecker kronecker, Partition partition, TreeView tree, std::uint32_t* confirmed,
                            Violations* violations) {
  const std::int64_t first = thread_index() * edges_of_thread;
  for (std::int64_t index = first; index < first + edges_of_thread && index < kronecker.edges(); ++index) {
    const Edge edge = kronecker.edge(index);
    // Every rank sees all edges: the first end's owner checks it, and each end's owner looks for its parent.
    if (partition.owns(edge.first)) {
      if (is_in_tree(tree, edge.first) != is_in_tree(tree, edge.second)) {
        report(violations, 4);
      } else if (is_in_tree(tree, edge.first)) {
        const int difference = int{tree.levels[edge.first]} - int{tree.levels[edge.second]};
        if (difference < -1 || difference > 1) {
          report(violations, 3);
        }
      }
    }
    const std::int64_t ends[2] = {edge.first, edge.second};
    for (int end = 0; end < 2; ++end) {
      if (partition.owns(ends[end]) && tree.parents[ends[end]] == ends[1 - end]) {
        const std::int64_t own = ends[end] - partition.first_own();
        atomicOr(&confirmed[own / 32], 1u << own % 32);
      }
    }
  }
}

__global__ void check_vertices(Partition partition, TreeView tree, const std::uint32_t* confirmed,
                               Violations* violations) {
  const std::int64_t own = thread_index();
  const std::int64_t vertex = partition.first_own() + own;
  if (own >= partition.block() || vertex >= partition.vertices()) {
    return;
  }
  const std::int64_t parent = tree.parents[vertex];
  if (vertex == tree.root) {
    if (parent != vertex) {
      report(violations, 1);
    }
    if (tree.levels[vertex] != 0) {
      report(violations, 2);
    }
    return;
  }
  if (parent == not_in_tree) {
    if (tree.levels[vertex] != no_level) {
      report(violations, 2);
    }
    return;
  }
  if (!leads_to_root(tree, vertex, partition.vertices())) {
    report(violations, 1);
  }
  const bool is_vertex = parent >= 0 && parent < partition.vertices();
  if (is_vertex && tree.levels[vertex] != tree.levels[parent] + 1) {
    report(violations, 2);
  }
  if ((confirmed[own / 32] >> own % 32 & 1) == 0) {
    report(violations, 5);
  }
}

}  // namespace kernels

void queue_check_edges(const example::Stream& stream, const Kronecker& kronecker, const Partition& partition,
                       TreeView tree, std::uint32_t* confirmed, Violations* violations) {
  example::launch(stream, (kronecker.edges() + edges_of_thread - 1) / edges_of_thread, kernels::check_edges,
                  kronecker, partition, tree, confirmed, violations);
}

void queue_check_vertices(const example::Stream& stream, const Partition& partition, TreeView tree,
                          const std::uint32_t* confirmed, Violations* violations) {
  example::launch(stream, partition.block(), kernels::check_vertices, partition, tree, confirmed, violations);
}

}  // namespace bfs
