// What a rank sends to others and makes of what they send, as calls that queue kernels on a stream. Knows no
// MPI.
#pragma once

#include <cstdint>

#include "examples/particles/cells.hpp"
#include "examples/support/gpu.hpp"

namespace particles {

/// A position, or the velocity of the one before it, whose identity is no_identity. A particle that changes
/// owner is sent as both, and all are where forces ask for velocities.
using Record = Place;

/// Records to or from neighbours: that of neighbour n from records[starts[n]] on. So many as sums[n + 1] −
/// sums[n] have come from it; as many as there is room for may be sent to it.
struct Mailbox {
  Record* records;
  std::uint32_t neighbours;
  std::uint32_t starts[most_neighbours + 1];
  std::uint32_t sums[most_neighbours + 1];

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t room(std::uint32_t neighbour) const {
    return starts[neighbour + 1] - starts[neighbour];
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t come() const { return sums[neighbours]; }
};

/// How ranks send, all alike.
struct Packing {
  bool to_all;
  bool with_velocities;  ///< of all particles
};

/// Own particles of frontier and external cells, `most` of them at most, each to those neighbours that have a
/// voxel near it, or to all. status->records, which must be zero before, says how many records that are. What
/// there is no room for is not written.
void queue_pack(const example::Stream& stream, const Cells& cells, const Sorted& rim, std::uint32_t most,
                const Packing& packing, const Mailbox& outbox, Status* status);

/// Where what has come belongs.
struct Arrivals {
  std::uint32_t* cells;   ///< of each record; no_cell: nowhere here
  std::uint32_t* turns;   ///< among those of the cell that have come
  std::uint32_t* counts;  ///< of each frontier and external cell, and one more
  std::uint32_t* starts;  ///< of the same cells: their sums, the first is zero
};

/// Finds the cells of what has come, and counts all particles of frontier and external cells in
/// arrivals.counts. `starts` are those of the own particles.
void queue_find_arrivals(const example::Stream& stream, const Cells& cells, const Mailbox& inbox,
                         const std::uint32_t* starts, const Arrivals& arrivals);

/// Own particles of frontier and external cells, `most` of them at most, and what has come, to their places
/// in `sorted`, whose starts are then those of all. Adds to status->migrated.
void queue_merge(const example::Stream& stream, const Cells& cells, const Sorted& rim, std::uint32_t most,
                 const Packing& packing, const Mailbox& inbox, const Arrivals& arrivals, const Sorted& sorted,
                 Status* status);

}  // namespace particles
