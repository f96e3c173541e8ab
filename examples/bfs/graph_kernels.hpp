// Kernels that make a rank's part of the adjacency matrix, as calls that queue them on a stream. Know no MPI.
#pragma once

#include <cstdint>

#include "examples/bfs/kronecker.hpp"
#include "examples/bfs/partition.hpp"
#include "examples/support/gpu.hpp"

namespace bfs {

/// An entry of the adjacency matrix: row in the upper half, column in the lower. Sorted, they are the lists
/// of neighbours behind one another.
using Entry = std::uint64_t;

struct EntryCount {
  unsigned long long value;
};

/// Compressed sparse rows: the neighbours of `row` are neighbours[offsets[row]] up to offsets[row + 1],
/// sorted.
struct Rows {
  std::int64_t count;
  const unsigned long long* offsets;
  const std::uint32_t* neighbours;
};

/// Both directions of the input's edges that this rank holds, loops left out, targets as rows and sources as
/// columns, in any order; `entries` may be null, then they are only counted.
void queue_entries(const example::Stream& stream, const Kronecker& kronecker, const Partition& partition,
                   Entry* entries, EntryCount* count);
/// For each own vertex, how many ends of input edges it is, those of loops twice; and which have an edge that
/// is no loop, as bits. Both must be zero before.
void queue_degrees(const example::Stream& stream, const Kronecker& kronecker, const Partition& partition,
                   std::uint32_t* edge_ends, std::uint32_t* joined);
/// Rows become columns.
void queue_transpose(const example::Stream& stream, const Entry* entries, Entry* transposed,
                     std::int64_t count);
/// Of sorted entries without doubles.
void queue_rows(const example::Stream& stream, const Entry* entries, std::int64_t count,
                std::int64_t row_count, unsigned long long* offsets, std::uint32_t* neighbours);

/// Sorts entries, with `spare` as large, and removes doubles. Returns where they then are, one of the two;
/// waits until it is done. `count` is a word of device memory.
struct SortedEntries {
  Entry* entries;
  Entry* spare;
  std::int64_t count;
};
[[nodiscard]] SortedEntries sort_entries(const example::Stream& stream, Entry* entries, Entry* spare,
                                         std::int64_t entry_count, int row_bits, EntryCount* count);

}  // namespace bfs
