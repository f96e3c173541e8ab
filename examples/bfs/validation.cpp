#include "examples/bfs/validation.hpp"

#include <vector>

namespace bfs {
namespace {

std::size_t all_blocks(const Partition& partition) {
  return static_cast<std::size_t>(partition.block() * partition.rank_count());
}

template <typename Element>
std::uint32_t* as_words(Element* elements) {
  return reinterpret_cast<std::uint32_t*>(elements);
}

}  // namespace

Validator::Validator(const Kronecker& kronecker, const Partition& partition, example::Exchange exchange,
                     MPI_Comm communicator)
    : kronecker_(kronecker),
      partition_(partition),
      exchanger_(exchange, communicator),
      parents_(all_blocks(partition)),
      levels_(all_blocks(partition)),
      confirmed_(static_cast<std::size_t>(partition.block_words())) {}

std::int64_t Validator::device_bytes(const Partition& partition) {
  return partition.block() * partition.rank_count() * 9 + partition.block() / 8 + (std::int64_t{6} << 20);
}

std::array<std::int64_t, rule_count> Validator::violations(std::int64_t root, std::int64_t* parents,
                                                           Level* levels) {
  const example::NamedRange range("validate");
  gather(parents, levels);
  example::check(cudaMemsetAsync(violations_.get(), 0, sizeof(Violations), stream_.get()), "clear counters");
  example::check(
      cudaMemsetAsync(confirmed_.get(), 0, static_cast<std::size_t>(partition_.block()) / 8, stream_.get()),
      "clear a bitmap");
  const TreeView tree{root, parents_.get(), levels_.get()};
  queue_check_edges(stream_, kronecker_, partition_, tree, confirmed_.get(), violations_.get());
  queue_check_vertices(stream_, partition_, tree, confirmed_.get(), violations_.get());

  std::array<std::int64_t, rule_count> own{};
  static_assert(sizeof own == sizeof(Violations));
  example::check(
      cudaMemcpyAsync(own.data(), violations_.get(), sizeof own, cudaMemcpyDeviceToHost, stream_.get()),
      "copy counters");
  stream_.synchronize();
  std::array<std::int64_t, rule_count> all{};
  MPI_Allreduce(own.data(), all.data(), rule_count, MPI_INT64_T, MPI_SUM, exchanger_.communicator());
  return all;
}

/// Everyone gets the whole tree: a path to the root may lead through any rank's vertices.
void Validator::gather(std::int64_t* parents, Level* levels) {
  const std::int64_t block = partition_.block();
  std::vector<example::Message> sends;
  std::vector<example::Message> receives;
  constexpr int parents_tag = 0;
  constexpr int levels_tag = 1;
  const int parent_words = static_cast<int>(block * 2);
  const int level_words = static_cast<int>(block / 4);
  for (int rank = 0; rank < partition_.rank_count(); ++rank) {
    if (rank != partition_.rank()) {
      sends.push_back({as_words(parents), parent_words, rank, parents_tag});
      sends.push_back({as_words(levels), level_words, rank, levels_tag});
      receives.push_back({as_words(parents_.get() + rank * block), parent_words, rank, parents_tag});
      receives.push_back({as_words(levels_.get() + rank * block), level_words, rank, levels_tag});
    }
  }
  const std::int64_t own = partition_.first_own();
  example::check(cudaMemcpyAsync(parents_.get() + own, parents, static_cast<std::size_t>(block) * 8,
                                 cudaMemcpyDeviceToDevice, stream_.get()),
                 "copy the parents");
  example::check(cudaMemcpyAsync(levels_.get() + own, levels, static_cast<std::size_t>(block),
                                 cudaMemcpyDeviceToDevice, stream_.get()),
                 "copy the levels");
  stream_.synchronize();
  exchanger_(stream_, sends, receives);
}

}  // namespace bfs
