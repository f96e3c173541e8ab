#include "examples/bfs/search.hpp"

#include <array>
#include <cstdio>

namespace bfs {
namespace {

// When to change the direction, from Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first
// search", SC 2012: to bottom-up when the frontier has more than 1/14 of the unexplored edges, and back when
// it has less than 1/24 of the vertices.
constexpr std::int64_t bottom_up_from = 14;
constexpr std::int64_t top_down_below = 24;

std::size_t count_of(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

template <typename Element>
void fill(const example::Stream& stream, Element* elements, int byte, std::int64_t count) {
  example::check(cudaMemsetAsync(elements, byte, count_of(count) * sizeof(Element), stream.get()),
                 "fill device memory");
}

/// Waits until the value is there.
template <typename Element>
Element read(const example::Stream& stream, const Element* element) {
  Element value{};
  example::check(cudaMemcpyAsync(&value, element, sizeof value, cudaMemcpyDeviceToHost, stream.get()),
                 "copy a value to the host");
  stream.synchronize();
  return value;
}

/// Waits until it is written.
template <typename Element>
void write(const example::Stream& stream, Element* element, Element value) {
  example::check(cudaMemcpyAsync(element, &value, sizeof value, cudaMemcpyHostToDevice, stream.get()),
                 "copy a value to the GPU");
  stream.synchronize();
}

std::uint32_t* as_words(Level* levels) {
  return reinterpret_cast<std::uint32_t*>(levels);  // blocks are multiples of 32 vertices
}

}  // namespace

Search::Search(const Graph& graph, const Plan& plan, MPI_Comm communicator)
    : graph_(graph),
      direction_(plan.direction),
      communicators_(graph.partition(), communicator),
      expand_(plan.exchange, communicators_.column(), graph.partition().block_words(), plan.most_listed),
      fold_(plan.exchange, communicators_.row(), graph.partition().block_words(), plan.most_listed),
      row_exchanger_(plan.exchange, communicators_.row()),
      unpacker_(graph.partition().sources() / 32),
      top_down_(graph.partition().sources()),
      frontier_(count_of(graph.partition().sources() / 32)),
      list_(count_of(graph.partition().sources())),
      seen_(count_of(graph.partition().targets() / 32)),
      found_(count_of(graph.partition().targets() / 32)),
      source_levels_(count_of(graph.partition().sources())),
      target_levels_(count_of(graph.partition().targets())),
      own_candidates_(count_of(graph.partition().targets())),
      candidates_(count_of(graph.partition().targets())),
      parents_(count_of(graph.partition().block())),
      sizes_(count_of(graph.partition().rank_count())) {}

std::int64_t Search::device_bytes(const Partition& partition, const Plan& plan) {
  const std::int64_t lists = 2 * 4 * plan.most_listed * (partition.grid().rows + partition.grid().columns);
  // by source: list, starts, level, and bits; by target: candidates, level, and bits
  return partition.sources() * (4 + 8 + 1 + 1) + partition.targets() * (8 + 1 + 1) + partition.block() * 8 +
         lists + (std::int64_t{16} << 20);
}

Reached Search::run(std::int64_t root) {
  const example::NamedRange range("search");
  start(root);
  Reached reached;
  std::int64_t explored = 0;  // edge ends
  for (;; ++reached.levels) {
    exchange_sizes();
    std::int64_t frontier = 0;
    std::int64_t edge_ends = 0;
    for (const FrontierSize& size : sizes_) {
      frontier += static_cast<std::int64_t>(size.vertices);
      edge_ends += static_cast<std::int64_t>(size.edge_ends);
    }
    if (frontier == 0) {
      break;
    }
    reached.vertices += frontier;
    explored += edge_ends;
    if (reached.levels + 1 == no_level) {
      std::fprintf(stderr, "bfs: a tree of %d levels or more, which levels of one byte cannot hold\n",
                   int{no_level});
      MPI_Abort(communicators_.all(), 1);
    }
    choose_direction(frontier, edge_ends, 2 * graph_.kronecker().edges() - explored);
    expand(static_cast<Level>(reached.levels));
    if (is_bottom_up_) {
      ++reached.bottom_up_levels;
      look_bottom_up();
    } else {
      look_top_down();
    }
    fold();
  }
  drop_late_candidates();
  choose_parents(root);
  reached.input_edges = explored / 2;
  return reached;
}

void Search::start(std::int64_t root) {
  const Partition& partition = graph_.partition();
  fill(stream_, source_levels_.get(), no_level, partition.sources());
  fill(stream_, found_.get(), 0, partition.targets() / 32);
  fill(stream_, seen_.get(), 0, partition.targets() / 32);
  queue_complement(stream_, graph_.joined(), own_seen(), partition.block_words());
  fill(stream_, own_candidates_.get(), 0xFF, partition.targets());  // no_parent
  fill(stream_, size_.get(), 0, 1);
  is_bottom_up_ = false;
  std::uint32_t* const own_found = found_.get() + partition.own_targets() / 32;
  if (partition.owns(root)) {
    const std::int64_t own = root - partition.first_own();
    write(stream_, own_found + own / 32, 1u << own % 32);
  }
  queue_advance(stream_, own_found, graph_.edge_ends(), partition.block_words(), own_seen(), own_frontier(),
                size_.get());
}

/// Everyone learns everyone's: whether the search is over, and in which form frontiers come.
void Search::exchange_sizes() {
  static_assert(sizeof(FrontierSize) == 2 * sizeof(std::uint64_t));
  example::check(cudaMemcpyAsync(own_size_.get(), size_.get(), sizeof(FrontierSize), cudaMemcpyDeviceToHost,
                                 stream_.get()),
                 "copy the size of the frontier");
  stream_.synchronize();
  MPI_Allgather(own_size_.get(), 2, MPI_UINT64_T, sizes_.data(), 2, MPI_UINT64_T, communicators_.all());
}

void Search::choose_direction(std::int64_t frontier, std::int64_t frontier_edge_ends,
                              std::int64_t unexplored_edge_ends) {
  if (direction_ == Direction::top_down) {
    return;
  }
  if (is_bottom_up_) {
    is_bottom_up_ = frontier >= graph_.partition().vertices() / top_down_below;
  } else {
    is_bottom_up_ = frontier_edge_ends > unexplored_edge_ends / bottom_up_from;
  }
}

/// Afterwards the frontier of all sources is known here.
void Search::expand(Level level) {
  const example::NamedRange range("expand");
  const Partition& partition = graph_.partition();
  std::vector<std::int64_t> sizes;
  for (int row = 0; row < partition.grid().rows; ++row) {
    const int rank = partition.column() * partition.grid().rows + row;
    sizes.push_back(static_cast<std::int64_t>(sizes_[count_of(rank)].vertices));
  }
  expand_.gather(stream_, frontier_.get(), sizes);
  queue_levels(stream_, frontier_.get(), partition.sources() / 32, level, source_levels_.get());
}

/// Follows the edges from the frontier to targets that were not seen.
void Search::look_top_down() {
  const example::NamedRange range("top-down");
  const Partition& partition = graph_.partition();
  std::int64_t frontier = 0;
  for (int row = 0; row < partition.grid().rows; ++row) {
    const int rank = partition.column() * partition.grid().rows + row;
    frontier += static_cast<std::int64_t>(sizes_[count_of(rank)].vertices);
  }
  fill(stream_, found_.get(), 0, partition.targets() / 32);
  unpacker_.queue_places(stream_, frontier_.get(), partition.sources() / 32);
  unpacker_.queue_list(stream_, frontier_.get(), 0, partition.sources() / 32, list_.get());
  top_down_.queue(stream_, graph_.by_source(), graph_.entry_count(), list_.get(), frontier, seen_.get(),
                  found_.get(), own_candidates_.get());
}

/// Looks for an edge to each target that nobody has seen from the frontier. Its owner knows who that is.
void Search::look_bottom_up() {
  const example::NamedRange range("bottom-up");
  const std::vector<std::int64_t> sizes(count_of(graph_.partition().grid().columns),
                                        FrontierExchange::unknown);
  fold_.gather(stream_, seen_.get(), sizes);
  queue_bottom_up(stream_, graph_.by_target(), frontier_.get(), seen_.get(), found_.get(),
                  own_candidates_.get());
}

/// What was found goes to its owners, who know what is new.
void Search::fold() {
  const example::NamedRange range("fold");
  const Partition& partition = graph_.partition();
  const std::int64_t words = partition.block_words();
  const std::int64_t own = partition.own_targets() / 32;
  const std::int64_t behind = own + words;
  fold_.scatter(stream_, found_.get());
  queue_unite(stream_, found_.get(), seen_.get(), own);
  queue_unite(stream_, found_.get() + behind, seen_.get() + behind, partition.targets() / 32 - behind);
  fill(stream_, size_.get(), 0, 1);
  queue_advance(stream_, found_.get() + own, graph_.edge_ends(), words, own_seen(), own_frontier(),
                size_.get());
}

/// A rank that is alone in its row knows all that its row has seen, and has no such candidates.
void Search::drop_late_candidates() {
  const Partition& partition = graph_.partition();
  if (partition.grid().columns == 1) {
    return;
  }
  const example::NamedRange range("levels");
  const std::int64_t block = partition.block();
  std::vector<example::Message> sends;
  std::vector<example::Message> receives;
  for (int member = 0; member < partition.grid().columns; ++member) {
    if (member != partition.column()) {
      const int words = static_cast<int>(block / 4);
      sends.push_back({as_words(levels()), words, member, 0});
      receives.push_back({as_words(target_levels_.get() + member * block), words, member, 0});
    }
  }
  example::check(cudaMemcpyAsync(target_levels_.get() + partition.column() * block, levels(), count_of(block),
                                 cudaMemcpyDeviceToDevice, stream_.get()),
                 "copy the levels");
  stream_.synchronize();
  row_exchanger_(stream_, sends, receives);
  queue_drop_late_parents(stream_, target_levels_.get(), source_levels_.get(), partition.targets(),
                          own_candidates_.get());
}

/// Each rank of a row proposes parents for all targets of the row; the owners choose.
void Search::choose_parents(std::int64_t root) {
  const example::NamedRange range("parents");
  const Partition& partition = graph_.partition();
  const std::int64_t block = partition.block();
  const int columns = partition.grid().columns;
  const int own = partition.column();
  std::vector<example::Message> sends;
  std::vector<example::Message> receives;
  for (int member = 0; member < columns; ++member) {
    if (member != own) {
      const int words = static_cast<int>(block);
      sends.push_back({own_candidates_.get() + member * block, words, member, 0});
      receives.push_back({candidates_.get() + member * block, words, member, 0});
    }
  }
  stream_.synchronize();
  row_exchanger_(stream_, sends, receives);
  queue_choose_parents(stream_, {columns, own, own_candidates_.get(), candidates_.get()}, block,
                       partition.sources(), parents_.get());
  if (partition.owns(root)) {
    write(stream_, parents_.get() + (root - partition.first_own()), root);
  }
  stream_.synchronize();
}

std::uint64_t Search::tree_hash() {
  fill(stream_, hash_.get(), 0, 1);
  const Partition& partition = graph_.partition();
  queue_hash(stream_, partition.first_own(), partition.block(), levels(), parents_.get(), hash_.get());
  const std::uint64_t own = read(stream_, hash_.get());
  std::uint64_t sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, communicators_.all());
  return sum;
}

std::uint32_t* Search::own_frontier() const {
  return frontier_.get() + graph_.partition().own_sources() / 32;
}

std::uint32_t* Search::own_seen() const {
  return seen_.get() + graph_.partition().own_targets() / 32;
}

}  // namespace bfs
