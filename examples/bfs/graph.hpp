// A rank's part of the graph, in device memory, made there without a message: every GPU generates all edges,
// which is faster than to sort a share of them and to send it, and keeps its own.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/bfs/graph_kernels.hpp"
#include "examples/bfs/kronecker.hpp"
#include "examples/bfs/partition.hpp"
#include "examples/support/gpu.hpp"

namespace bfs {

class Graph {
 public:
  /// Its device is the current one.
  Graph(const Kronecker& kronecker, const Partition& partition);

  /// Device memory that build() will keep, at most, and that it will need besides for a while.
  [[nodiscard]] std::int64_t kept_bytes() const;
  [[nodiscard]] std::int64_t building_bytes() const;
  void build();

  [[nodiscard]] const Kronecker& kronecker() const { return kronecker_; }
  [[nodiscard]] const Partition& partition() const { return partition_; }
  /// Entries of this rank's part of the matrix.
  [[nodiscard]] std::int64_t entry_count() const { return entry_count_; }
  /// For each target its sources, and for each source its targets.
  [[nodiscard]] Rows by_target() const { return by_target_->rows(); }
  [[nodiscard]] Rows by_source() const { return by_source_->rows(); }
  /// Of own vertices: how many ends of input edges each is, and which have an edge that is no loop, as bits.
  [[nodiscard]] const std::uint32_t* edge_ends() const { return edge_ends_.get(); }
  [[nodiscard]] const std::uint32_t* joined() const { return joined_.get(); }

 private:
  class Adjacency {
   public:
    Adjacency(const example::Stream& stream, const SortedEntries& entries, std::int64_t row_count);
    [[nodiscard]] Rows rows() const { return {row_count_, offsets_.get(), neighbours_.get()}; }

   private:
    std::int64_t row_count_;
    example::DeviceArray<unsigned long long> offsets_;
    example::DeviceArray<std::uint32_t> neighbours_;
  };

  Kronecker kronecker_;
  Partition partition_;
  example::Stream stream_{example::Priority::normal};
  example::DeviceArray<EntryCount> count_{1};
  example::DeviceArray<std::uint32_t> edge_ends_;
  example::DeviceArray<std::uint32_t> joined_;
  std::int64_t generated_entries_ = 0;
  std::int64_t entry_count_ = 0;
  std::shared_ptr<const Adjacency> by_target_;
  std::shared_ptr<const Adjacency> by_source_;
};

/// The first `count` root candidates that have an edge to another vertex, each once; fewer if there are not
/// so many. Collective, the same on all ranks.
[[nodiscard]] std::vector<std::int64_t> choose_roots(const Graph& graph, int count, MPI_Comm communicator);

}  // namespace bfs
