// A rank's cells: their classes and local indices, the connection matrix, and who is beside whom. Knows no
// MPI and no GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "examples/particles/box.hpp"
#include "examples/particles/partition.hpp"

namespace particles {

/// Where a class of cells ends. Local indices go through the classes in this order.
struct Classes {
  std::uint32_t deep;      ///< internal cells with internal ones around them only
  std::uint32_t internal;  ///< the others of these: the shell
  std::uint32_t frontier;
  std::uint32_t all;  ///< external cells are the last

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t rim() const { return all - internal; }
};

constexpr int most_neighbours = 64;
constexpr std::int32_t mine = -1;
constexpr std::int32_t nobody = -2;

/// A row of the connection matrix.
struct Connection {
  std::uint64_t near = 0;       ///< a bit for each neighbour that has a voxel within the cutoff of this one
  std::int32_t owner = nobody;  ///< `mine`, `nobody`, or a neighbour
  std::uint32_t unused = 0;
};

/// Consecutive local indices: the first, and how many, 3 at most.
class Segment {
 public:
  Segment(std::uint32_t first, std::uint32_t count) : bits_(first << 2 | count) {}
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t first() const { return bits_ >> 2; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t end() const { return (bits_ >> 2) + (bits_ & 3); }

 private:
  std::uint32_t bits_;
};

/// The cell array: cells sorted by where they lie, x fastest, as rows along x. In a row, x of each cell and
/// its local index.
struct CellArray {
  std::uint32_t low[2]{};     ///< y and z of the first row
  std::uint32_t extent[2]{};  ///< rows
  std::vector<std::uint32_t> row_starts;
  std::vector<std::uint32_t> x;
  std::vector<std::uint32_t> local;
};

/// Some voxels, and how many particles have been counted there, if any have.
struct Tally {
  std::int64_t voxels = 0;
  std::int64_t particles = 0;

  void add(std::int64_t counted) {
    ++voxels;
    particles += counted;
  }
  /// As many as were counted, or as there were if there are as many everywhere: they may come back.
  [[nodiscard]] double expected(double in_voxel) const {
    return std::max(static_cast<double>(particles), static_cast<double>(voxels) * in_voxel);
  }
};

struct Tiling {
  Box box{};
  Classes classes{};
  std::vector<Site> cells;  ///< by local index
  CellArray array;
  std::vector<std::uint32_t> segment_starts;  ///< one more than cells
  std::vector<Segment> segments;
  /// Those of the voxels of frontier and external cells, cell by cell.
  std::vector<Connection> connections;
  std::vector<int> neighbours;  ///< ranks that particles may be sent to
  std::vector<Tally> near;      ///< of each neighbour: voxels of mine that are near it
  Tally own;
  Tally rim;              ///< voxels of frontier and external cells that are not foreign
  Tally foreign;          ///< the others of these cells
  std::string complaint;  ///< why it cannot be used, or nothing
};

/// `counts` of particles in each voxel, or nothing where they are not known.
[[nodiscard]] Tiling make_tiling(const Box& box, const Owners& owners, int rank,
                                 const std::vector<std::uint8_t>& counts = {});

/// The steps from a voxel to those that may have a point less than the cutoff away. Points exactly that far
/// do not interact.
struct Offset {
  int x, y, z;
};
[[nodiscard]] std::vector<Offset> near_offsets(const Box& box);

}  // namespace particles
