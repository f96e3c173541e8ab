// What a run has found, and how it is printed. Knows no MPI and no GPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "examples/bfs/options.hpp"

namespace bfs {

/// One search.
struct Timing {
  std::int64_t input_edges;  ///< of the component, undirected, as generated
  double time_s;

  [[nodiscard]] double teps() const { return static_cast<double>(input_edges) / time_s; }
};

struct Result {
  int rank_count = 1;
  double construction_s = 0;
  std::vector<Timing> searches;
  std::int64_t most_listed = 0;  ///< larger sets of vertices were sent as bitmaps
  std::int64_t sent_bytes = 0;   ///< frontiers, by all ranks in all searches
  int most_levels = 0;
  std::uint64_t hash = 0;                                 ///< of all trees
  std::optional<std::array<std::int64_t, 5>> violations;  ///< of each rule, where the trees were checked

  [[nodiscard]] bool verified() const;
  /// Traversed edges per second, as Graph500 averages them.
  [[nodiscard]] double harmonic_mean_teps() const;
};

void print(const Options& options, const Result& result);

}  // namespace bfs
