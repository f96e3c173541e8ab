#include "examples/bfs/graph_kernels.hpp"

#include "examples/bfs/threads.hpp"
#include "examples/support/device_algorithms.hpp"

namespace bfs {
namespace {

/// So many edges are made by one GPU thread, to reserve room for all that it keeps at once.
constexpr std::int64_t edges_of_thread = 32;

/// Calls `use` with this thread's share of the edges.
template <typename Use>
__device__ void for_own_edges(const Kronecker& kronecker, Use use) {
  const std::int64_t first = thread_index() * edges_of_thread;
  for (std::int64_t index = first; index < first + edges_of_thread && index < kronecker.edges(); ++index) {
    use(kronecker.edge(index));
  }
}

/// Calls `use` with both directions of the edges that this rank holds.
template <typename Use>
__device__ void for_own_entries(const Kronecker& kronecker, const Partition& partition, Use use) {
  for_own_edges(kronecker, [&](Edge edge) {
    if (edge.first == edge.second) {
      return;
    }
    if (partition.holds_edge(edge.first, edge.second)) {
      use(edge.first, edge.second);
    }
    if (partition.holds_edge(edge.second, edge.first)) {
      use(edge.second, edge.first);
    }
  });
}

std::int64_t threads_for(const Kronecker& kronecker) {
  return (kronecker.edges() + edges_of_thread - 1) / edges_of_thread;
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

__global__ void make_entries(Kronecker kronecker, Partition partition, Entry* entries, EntryCount* count) {
  // Made twice, counted and then written: that is faster than to store what may not be kept.
  unsigned long long own = 0;
  for_own_entries(kronecker, partition, [&](std::int64_t, std::int64_t) { ++own; });
  if (own == 0) {
    return;
  }
  unsigned long long place = atomicAdd(&count->value, own);
  if (entries == nullptr) {
    return;
  }
  for_own_entries(kronecker, partition, [&](std::int64_t source, std::int64_t target) {
    entries[place++] = Entry{partition.local_target(target)} << 32 | partition.local_source(source);
  });
}

__global__ void count_edge_ends(Kronecker kronecker, Partition partition, std::uint32_t* edge_ends,
                                std::uint32_t* joined) {
  for_own_edges(kronecker, [&](Edge edge) {
    for (const std::int64_t vertex : {edge.first, edge.second}) {
      if (partition.owns(vertex)) {
        const std::int64_t own = vertex - partition.first_own();
        atomicAdd(&edge_ends[own], 1u);
        if (edge.first != edge.second && (joined[own / 32] >> own % 32 & 1) == 0) {
          atomicOr(&joined[own / 32], 1u << own % 32);
        }
      }
    }
  });
}

__global__ void transpose(const Entry* entries, Entry* transposed, std::int64_t count) {
  const std::int64_t index = thread_index();
  if (index < count) {
    transposed[index] = entries[index] << 32 | entries[index] >> 32;
  }
}

__global__ void make_rows(const Entry* entries, std::int64_t count, std::int64_t row_count,
                          unsigned long long* offsets, std::uint32_t* neighbours) {
  // One thread an entry, and one behind the last. Where a row begins, it also begins the empty rows before.
  const std::int64_t index = thread_index();
  if (index > count) {
    return;
  }
  const std::int64_t before = index == 0 ? -1 : static_cast<std::int64_t>(entries[index - 1] >> 32);
  const std::int64_t row = index == count ? row_count : static_cast<std::int64_t>(entries[index] >> 32);
  for (std::int64_t begun = before + 1; begun <= row; ++begun) {
    offsets[begun] = static_cast<unsigned long long>(index);
  }
  if (index < count) {
    neighbours[index] = static_cast<std::uint32_t>(entries[index]);
  }
}

}  // namespace kernels

void queue_entries(const example::Stream& stream, const Kronecker& kronecker, const Partition& partition,
                   Entry* entries, EntryCount* count) {
  example::check(cudaMemsetAsync(count, 0, sizeof *count, stream.get()), "clear a counter");
  example::launch(stream, threads_for(kronecker), kernels::make_entries, kronecker, partition, entries,
                  count);
}

void queue_degrees(const example::Stream& stream, const Kronecker& kronecker, const Partition& partition,
                   std::uint32_t* edge_ends, std::uint32_t* joined) {
  example::launch(stream, threads_for(kronecker), kernels::count_edge_ends, kronecker, partition, edge_ends,
                  joined);
}

void queue_transpose(const example::Stream& stream, const Entry* entries, Entry* transposed,
                     std::int64_t count) {
  if (count > 0) {
    example::launch(stream, count, kernels::transpose, entries, transposed, count);
  }
}

void queue_rows(const example::Stream& stream, const Entry* entries, std::int64_t count,
                std::int64_t row_count, unsigned long long* offsets, std::uint32_t* neighbours) {
  example::launch(stream, count + 1, kernels::make_rows, entries, count, row_count, offsets, neighbours);
}

SortedEntries sort_entries(const example::Stream& stream, Entry* entries, Entry* spare,
                           std::int64_t entry_count, int row_bits, EntryCount* count) {
  if (entry_count == 0) {
    return {entries, spare, 0};
  }
  example::Scratch scratch;
  Entry* const sorted = example::sort(stream, scratch, entries, spare, entry_count, 32 + row_bits);
  Entry* const other = sorted == entries ? spare : entries;
  example::unique(stream, scratch, sorted, other, &count->value, entry_count);
  EntryCount kept{};
  example::check(cudaMemcpyAsync(&kept, count, sizeof kept, cudaMemcpyDeviceToHost, stream.get()),
                 "copy a counter");
  stream.synchronize();
  return {other, sorted, static_cast<std::int64_t>(kept.value)};
}

}  // namespace bfs
