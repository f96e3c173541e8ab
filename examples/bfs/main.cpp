// Breadth-first search on many GPUs: `mpiexec -n 4 penstock run bfs_mpich --scale 24`.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "examples/bfs/graph.hpp"
#include "examples/bfs/options.hpp"
#include "examples/bfs/result.hpp"
#include "examples/bfs/search.hpp"
#include "examples/bfs/switch_point.hpp"
#include "examples/bfs/validation.hpp"
#include "examples/support/gpu_memory.hpp"
#include "examples/support/program.hpp"
#include "examples/support/ranks_gpu.hpp"

namespace {

/// The largest set of vertices that is sent as a list. Where it will be measured, the largest that that may
/// give.
std::int64_t most_listed(bfs::Form form, const bfs::Partition& partition) {
  switch (form) {
    case bfs::Form::lists:
      return partition.block();
    case bfs::Form::bitmaps:
      return 0;
    case bfs::Form::switched:
    case bfs::Form::measured:
      break;
  }
  return partition.block_words();  // N / (32 R C): a list of so many is as large as the bitmap
}

/// Along the grid's longer side.
std::int64_t measure_most_listed(const bfs::Options& options, const bfs::Partition& partition) {
  const bfs::Communicators communicators(partition, MPI_COMM_WORLD);
  const bool has_column = options.grid.rows > 1;
  return bfs::measured_switch_point(
      options.exchange, has_column ? communicators.column() : communicators.row(), partition.block_words());
}

/// Whether the GPUs have room; says so if not.
bool has_room(std::int64_t needed_bytes, int rank) {
  const std::string complaint = example::memory_complaint(needed_bytes, MPI_COMM_WORLD);
  if (!complaint.empty() && rank == 0) {
    std::fprintf(stderr, "bfs: %s; take a smaller --scale or more GPUs\n", complaint.c_str());
  }
  return complaint.empty();
}

bfs::Timing time_search(bfs::Search& search, std::int64_t root, bfs::Result& result) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  const bfs::Reached reached = search.run(root);
  MPI_Barrier(MPI_COMM_WORLD);
  result.most_levels = std::max(result.most_levels, reached.levels);
  return {reached.input_edges, MPI_Wtime() - start_s};
}

/// The program's exit code.
int search_all(const bfs::Options& options, int rank, int rank_count) {
  example::choose_gpu();
  const bfs::Partition partition(options.kronecker().vertices(), options.grid, rank);
  bfs::Plan plan{options.direction, options.exchange, most_listed(options.form, partition)};
  const std::int64_t search_bytes = bfs::Search::device_bytes(partition, plan) +
                                    (options.verify ? bfs::Validator::device_bytes(partition) : 0);
  if (!has_room(search_bytes, rank)) {
    return 1;
  }
  bfs::Result result;
  result.rank_count = rank_count;
  const double start_s = MPI_Wtime();
  bfs::Graph graph(options.kronecker(), partition);
  if (!has_room(graph.kept_bytes() + std::max(graph.building_bytes(), search_bytes), rank)) {
    return 1;
  }
  graph.build();
  MPI_Barrier(MPI_COMM_WORLD);
  result.construction_s = MPI_Wtime() - start_s;

  const std::vector<std::int64_t> roots = bfs::choose_roots(graph, options.roots, MPI_COMM_WORLD);
  if (roots.empty()) {
    if (rank == 0) {
      std::fputs("bfs: the graph has loops only; take a larger --scale or --edge-factor\n", stderr);
    }
    return 1;
  }
  if (options.form == bfs::Form::measured && rank_count > 1) {
    plan.most_listed = measure_most_listed(options, partition);
  }
  result.most_listed = plan.most_listed;
  bfs::Search search(graph, plan, MPI_COMM_WORLD);
  std::optional<bfs::Validator> validator;
  if (options.verify) {
    validator.emplace(options.kronecker(), partition, options.exchange, MPI_COMM_WORLD);
    result.violations.emplace();
  }
  search.run(roots.front());  // not timed: buffers are seen by MPI and CUDA for the first time
  const std::int64_t sent_before = search.sent_bytes();
  for (const std::int64_t root : roots) {
    result.searches.push_back(time_search(search, root, result));
    result.hash = result.hash * 31 + search.tree_hash();
    if (validator) {
      const auto broken = validator->violations(root, search.parents(), search.levels());
      std::transform(broken.begin(), broken.end(), result.violations->begin(), result.violations->begin(),
                     std::plus<>());
    }
  }
  const std::int64_t sent_bytes = search.sent_bytes() - sent_before;
  MPI_Reduce(&sent_bytes, &result.sent_bytes, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    bfs::print(options, result);
  }
  return options.verify && !result.verified() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program(argc, argv, bfs::read_options, search_all);
}
