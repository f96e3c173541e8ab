// What a search does with its rank's part of the graph, as calls that queue kernels on a stream. Knows no
// MPI: what others found are bits in a bitmap. Sources and targets as in partition.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "examples/bfs/graph_kernels.hpp"
#include "examples/support/gpu.hpp"

namespace bfs {

using Level = std::uint8_t;
constexpr Level no_level = 255;           ///< of a vertex that was not reached
constexpr std::uint32_t no_parent = ~0u;  ///< among sources
constexpr std::int64_t not_in_tree = -1;  ///< as a vertex's parent, as in Graph500

/// Sums over the vertices of a frontier.
struct FrontierSize {
  unsigned long long vertices;
  unsigned long long edge_ends;  ///< of input edges
};

/// Vertices in `frontier` get that level.
void queue_levels(const example::Stream& stream, const std::uint32_t* frontier, std::int64_t words,
                  Level level, Level* levels);

/// Top-down: follows all edges from a frontier.
class TopDown {
 public:
  /// For frontiers of up to `most_sources` vertices.
  explicit TopDown(std::int64_t most_sources);
  ~TopDown();
  TopDown(const TopDown&) = delete;
  TopDown& operator=(const TopDown&) = delete;

  /// Sets the bits in `found` of the targets of edges from the listed sources that are not in `seen`. The
  /// lowest of these sources becomes the target's entry in `parents`, if it is lower than what is there.
  void queue(const example::Stream& stream, const Rows& by_source, std::int64_t entry_count,
             const std::uint32_t* list, std::int64_t count, const std::uint32_t* seen, std::uint32_t* found,
             std::uint32_t* parents);

 private:
  struct Temporary;
  example::DeviceArray<unsigned long long> starts_;
  std::unique_ptr<Temporary> temporary_;
};

/// Bottom-up: each target that is not in `seen` looks for a source in the frontier, up to the first, which
/// becomes its entry in `parents`. Writes all words of `found`.
void queue_bottom_up(const example::Stream& stream, const Rows& by_target, const std::uint32_t* frontier,
                     const std::uint32_t* seen, std::uint32_t* found, std::uint32_t* parents);

/// Takes those of the `found` own vertices that are not yet in `seen` as the next frontier, notes them in
/// `seen`, and adds up their size, which must be zero before.
void queue_advance(const example::Stream& stream, const std::uint32_t* found, const std::uint32_t* edge_ends,
                   std::int64_t words, std::uint32_t* seen, std::uint32_t* frontier, FrontierSize* size);

/// Removes parents that are not exactly a level nearer to the root than their targets: a rank that does not
/// know what others of its row have seen proposes a parent to what it comes to later than they.
void queue_drop_late_parents(const example::Stream& stream, const Level* target_levels,
                             const Level* source_levels, std::int64_t targets, std::uint32_t* parents);

/// Parents that the ranks of a row of the grid propose for one rank's vertices: a block for each column, that
/// of the own column in `own`, those of the others in `received`.
struct Candidates {
  int columns;
  int own_column;
  const std::uint32_t* own;
  const std::uint32_t* received;
};
/// The candidate with the lowest number, as vertex of the graph. A rank has `sources` sources.
void queue_choose_parents(const example::Stream& stream, const Candidates& candidates, std::int64_t block,
                          std::int64_t sources, std::int64_t* parents);

/// Adds a number to `hash` that depends on every own vertex's level and parent.
void queue_hash(const example::Stream& stream, std::int64_t first_own, std::int64_t block,
                const Level* levels, const std::int64_t* parents, unsigned long long* hash);

}  // namespace bfs
