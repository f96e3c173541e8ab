// Command line of the breadth-first search. Knows no GPU and no MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "examples/bfs/direction.hpp"
#include "examples/bfs/kronecker.hpp"
#include "examples/bfs/partition.hpp"
#include "examples/support/exchange.hpp"

namespace bfs {

/// In which form sets of vertices are sent.
enum class Form {
  lists,     ///< 32 bits a vertex in the set
  bitmaps,   ///< a bit a vertex of a block
  switched,  ///< lists of up to N / (32 R C) vertices, which are smaller than a bitmap
  measured   ///< lists of as many vertices as are found to be faster, at most that
};

struct Options {
  int scale = 12;  ///< log2 of the number of vertices
  std::int64_t edge_factor = 16;
  int roots = 64;
  std::uint64_t seed = 1;
  Grid grid{1, 1};
  Form form = Form::measured;
  Direction direction = Direction::optimising;
  example::Exchange exchange = example::Exchange::device;
  bool verify = false;
  bool json = false;

  [[nodiscard]] Kronecker kronecker() const { return {scale, edge_factor, seed}; }
};

[[nodiscard]] std::string name_of(Form form);
[[nodiscard]] std::string name_of(Direction direction);

/// Empty when the program should end at once: `exit_code` is then 0 (help was asked for) or 2 (bad
/// arguments), and rank 0 has printed why.
[[nodiscard]] std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count,
                                                  int& exit_code);

}  // namespace bfs
