#include "examples/bfs/graph.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace bfs {
namespace {

/// Bits of numbers below `count`.
int bits_for(std::int64_t count) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
}

}  // namespace

Graph::Adjacency::Adjacency(const example::Stream& stream, const SortedEntries& entries,
                            std::int64_t row_count)
    : row_count_(row_count),
      offsets_(static_cast<std::size_t>(row_count) + 1),
      neighbours_(static_cast<std::size_t>(std::max(entries.count, std::int64_t{1}))) {
  queue_rows(stream, entries.entries, entries.count, row_count, offsets_.get(), neighbours_.get());
  stream.synchronize();
}

Graph::Graph(const Kronecker& kronecker, const Partition& partition)
    : kronecker_(kronecker),
      partition_(partition),
      edge_ends_(static_cast<std::size_t>(partition.block())),
      joined_(static_cast<std::size_t>(partition.block_words())) {
  const auto block = static_cast<std::size_t>(partition.block());
  example::check(cudaMemsetAsync(edge_ends_.get(), 0, block * sizeof(std::uint32_t), stream_.get()),
                 "clear the degrees");
  example::check(cudaMemsetAsync(joined_.get(), 0, block / 8, stream_.get()), "clear a bitmap");
  queue_degrees(stream_, kronecker_, partition_, edge_ends_.get(), joined_.get());

  queue_entries(stream_, kronecker_, partition_, nullptr, count_.get());
  EntryCount count{};
  example::check(cudaMemcpyAsync(&count, count_.get(), sizeof count, cudaMemcpyDeviceToHost, stream_.get()),
                 "copy a counter");
  stream_.synchronize();
  generated_entries_ = static_cast<std::int64_t>(count.value);
}

std::int64_t Graph::kept_bytes() const {
  const std::int64_t by_target = generated_entries_ * 4 + partition_.targets() * 8;
  const std::int64_t by_source = generated_entries_ * 4 + partition_.sources() * 8;
  return by_target + (partition_.rank_count() == 1 ? 0 : by_source);
}

std::int64_t Graph::building_bytes() const {
  // entries and as many spare, and what CUB needs to sort them
  return generated_entries_ * 2 * static_cast<std::int64_t>(sizeof(Entry)) + generated_entries_ / 4 +
         (std::int64_t{64} << 20);
}

void Graph::build() {
  const auto capacity = static_cast<std::size_t>(std::max(generated_entries_, std::int64_t{1}));
  example::DeviceArray<Entry> entries(capacity);
  example::DeviceArray<Entry> spare(capacity);
  queue_entries(stream_, kronecker_, partition_, entries.get(), count_.get());
  const SortedEntries by_target = sort_entries(stream_, entries.get(), spare.get(), generated_entries_,
                                               bits_for(partition_.targets()), count_.get());
  entry_count_ = by_target.count;
  by_target_ = std::make_shared<Adjacency>(stream_, by_target, partition_.targets());
  if (partition_.rank_count() == 1) {
    by_source_ = by_target_;  // the whole matrix is symmetric, a part of it in general is not
    return;
  }
  queue_transpose(stream_, by_target.entries, by_target.spare, by_target.count);
  const SortedEntries by_source = sort_entries(stream_, by_target.spare, by_target.entries, by_target.count,
                                               bits_for(partition_.sources()), count_.get());
  by_source_ = std::make_shared<Adjacency>(stream_, by_source, partition_.sources());
}

std::vector<std::int64_t> choose_roots(const Graph& graph, int count, MPI_Comm communicator) {
  const Partition& partition = graph.partition();
  const auto words = static_cast<int>(partition.block_words());
  std::vector<std::uint32_t> own(static_cast<std::size_t>(words));
  example::check(cudaMemcpy(own.data(), graph.joined(), own.size() * 4, cudaMemcpyDeviceToHost),
                 "copy a bitmap");
  std::vector<std::uint32_t> joined(own.size() * static_cast<std::size_t>(partition.rank_count()));
  MPI_Allgather(own.data(), words, MPI_UINT32_T, joined.data(), words, MPI_UINT32_T, communicator);
  std::int64_t joined_count = 0;
  for (const std::uint32_t word : joined) {
    joined_count += std::popcount(word);
  }

  std::vector<std::int64_t> roots;
  std::unordered_set<std::int64_t> chosen;
  const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(count, joined_count));
  for (std::int64_t index = 0; roots.size() < wanted; ++index) {
    const std::int64_t vertex = graph.kronecker().root_candidate(index);
    const std::uint32_t word = joined[static_cast<std::size_t>(vertex / 32)];
    if ((word >> vertex % 32 & 1) != 0 && chosen.insert(vertex).second) {
      roots.push_back(vertex);
    }
  }
  return roots;
}

}  // namespace bfs
