// The five rules as kernels over one rank's vertices. Knows no MPI.
#pragma once

#include <cstdint>

#include "examples/bfs/kronecker.hpp"
#include "examples/bfs/partition.hpp"
#include "examples/bfs/search_kernels.hpp"
#include "examples/support/gpu.hpp"

namespace bfs {

constexpr int rule_count = 5;

/// How often each rule is broken by what this rank looks at.
struct Violations {
  unsigned long long of_rule[rule_count];
};

/// Of all vertices.
struct TreeView {
  std::int64_t root;
  const std::int64_t* parents;
  const Level* levels;
};

/// Looks at every input edge with an own end: rules 3 and 4; notes the own vertices whose edge to their
/// parent it is.
void queue_check_edges(const example::Stream& stream, const Kronecker& kronecker, const Partition& partition,
                       TreeView tree, std::uint32_t* confirmed, Violations* violations);
/// Looks at every own vertex: rules 1, 2 and 5. After queue_check_edges.
void queue_check_vertices(const example::Stream& stream, const Partition& partition, TreeView tree,
                          const std::uint32_t* confirmed, Violations* violations);

}  // namespace bfs
