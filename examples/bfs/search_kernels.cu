#include "examples/bfs/search_kernels.hpp"

#include <algorithm>

#include "examples/bfs/threads.hpp"
#include "examples/support/device_algorithms.hpp"

namespace bfs {
namespace {

constexpr unsigned whole_warp = 0xffffffff;
/// Threads of a kernel of which each takes several items: enough to fill any GPU.
constexpr std::int64_t many_threads = std::int64_t{1} << 19;
/// A search for the vertex whose edge it is serves so many edges, 32 apart.
constexpr int edges_of_lane = 8;

__device__ bool has(const std::uint32_t* bitmap, std::int64_t vertex) {
  return (bitmap[vertex / 32] >> vertex % 32 & 1) != 0;
}

/// Adds the values of all lanes to `sum`. All lanes must call it.
__device__ void add_of_warp(unsigned long long value, unsigned long long* sum) {
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    value += __shfl_down_sync(whole_warp, value, distance);
  }
  if (threadIdx.x % 32 == 0 && value != 0) {
    atomicAdd(sum, value);
  }
}

/// splitmix64's finisher: every bit of the result depends on every bit of the input.
__device__ std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

__global__ void set_levels(const std::uint32_t* frontier, std::int64_t words, Level level, Level* levels) {
  const std::int64_t index = thread_index();
  const std::uint32_t word = index < words ? frontier[index] : 0;
  if (word == 0) {
    return;
  }
  // four vertices at a time: four bits become four bytes
  constexpr std::uint32_t one_in_each_byte = 0x01010101;
  auto* const four_levels = reinterpret_cast<std::uint32_t*>(levels + index * 32);
  for (int part = 0; part < 8; ++part) {
    const std::uint32_t bits = word >> 4 * part & 0xF;
    if (bits != 0) {
      const std::uint32_t mask = (bits * 0x00204081 & one_in_each_byte) * 0xFF;
      four_levels[part] = (four_levels[part] & ~mask) | (level * one_in_each_byte & mask);
    }
  }
}

__global__ void count_neighbours(Rows rows, const std::uint32_t* list, std::int64_t count,
                                 unsigned long long* counts) {
  const std::int64_t index = thread_index();
  if (index <= count) {
    counts[index] =
        index < count ? rows.offsets[std::int64_t{list[index]} + 1] - rows.offsets[list[index]] : 0;
  }
}

/// A warp takes edges that lie behind one another, whosever they are, so that vertices with many edges keep
/// no thread longer than others.
__global__ void top_down(Rows rows, const std::uint32_t* list, std::int64_t count,
                         const unsigned long long* starts, const std::uint32_t* seen, std::uint32_t* found,
                         std::uint32_t* parents) {
  const unsigned long long edges = starts[count];
  const auto lane = static_cast<unsigned long long>(thread_index() % 32);
  const auto step = static_cast<unsigned long long>(thread_count()) * edges_of_lane;
  for (auto chunk = static_cast<unsigned long long>(thread_index() / 32) * 32 * edges_of_lane; chunk < edges;
       chunk += step) {
    // the last vertex whose edges start at this lane's first edge or before
    std::int64_t low = 0;
    std::int64_t high = count;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      if (starts[middle] <= chunk + lane) {
        low = middle;
      } else {
        high = middle;
      }
    }
    for (int turn = 0; turn < edges_of_lane; ++turn) {
      const unsigned long long edge = chunk + lane + static_cast<unsigned long long>(turn) * 32;
      if (edge >= edges) {
        break;
      }
      while (starts[low + 1] <= edge) {
        ++low;
      }
      const std::uint32_t source = list[low];
      const std::uint32_t target = rows.neighbours[rows.offsets[source] + (edge - starts[low])];
      if (has(seen, target)) {
        continue;
      }
      if (!has(found, target)) {
        atomicOr(&found[target / 32], 1u << target % 32);
      }
      if (source < parents[target]) {  // lists are sorted: mostly the first is the lowest
        atomicMin(&parents[target], source);
      }
    }
  }
}

/// A warp takes a word at a time, a target a lane.
__global__ void bottom_up(Rows rows, const std::uint32_t* frontier, const std::uint32_t* seen,
                          std::uint32_t* found, std::uint32_t* parents) {
  const auto lane = static_cast<std::uint32_t>(thread_index() % 32);
  for (std::int64_t index = thread_index() / 32; index < rows.count / 32; index += thread_count() / 32) {
    const std::uint32_t seen_word = seen[index];
    bool is_found = false;
    if ((seen_word >> lane & 1) == 0) {
      const std::int64_t target = index * 32 + lane;
      const unsigned long long end = rows.offsets[target + 1];
      for (unsigned long long place = rows.offsets[target]; place < end; ++place) {
        const std::uint32_t source = rows.neighbours[place];
        if (has(frontier, source)) {
          parents[target] = source;
          is_found = true;
          break;
        }
      }
    }
    const std::uint32_t found_word = __ballot_sync(whole_warp, is_found);
    if (lane == 0) {
      found[index] = found_word;
    }
  }
}

__global__ void advance(const std::uint32_t* found, const std::uint32_t* edge_ends, std::int64_t words,
                        std::uint32_t* seen, std::uint32_t* frontier, FrontierSize* size) {
  FrontierSize own{};
  for (std::int64_t index = thread_index(); index < words; index += thread_count()) {
    const std::uint32_t fresh = found[index] & ~seen[index];
    frontier[index] = fresh;
    seen[index] |= fresh;
    own.vertices += static_cast<unsigned long long>(__popc(fresh));
    for (std::uint32_t rest = fresh; rest != 0; rest &= rest - 1) {
      own.edge_ends += edge_ends[index * 32 + __ffs(static_cast<int>(rest)) - 1];
    }
  }
  add_of_warp(own.vertices, &size->vertices);
  add_of_warp(own.edge_ends, &size->edge_ends);
}

__global__ void drop_late_parents(const Level* target_levels, const Level* source_levels,
                                  std::int64_t targets, std::uint32_t* parents) {
  const std::int64_t target = thread_index();
  if (target < targets && parents[target] != no_parent &&
      source_levels[parents[target]] + 1 != target_levels[target]) {
    parents[target] = no_parent;
  }
}

__global__ void choose_parents(Candidates candidates, std::int64_t block, std::int64_t sources,
                               std::int64_t* parents) {
  const std::int64_t vertex = thread_index();
  if (vertex >= block) {
    return;
  }
  std::int64_t parent = not_in_tree;
  for (int column = candidates.columns - 1; column >= 0; --column) {
    const std::uint32_t* const of_column =
        column == candidates.own_column ? candidates.own : candidates.received;
    const std::uint32_t candidate = of_column[column * block + vertex];
    if (candidate != no_parent) {
      parent = column * sources + candidate;
    }
  }
  parents[vertex] = parent;
}

__global__ void hash(std::int64_t first_own, std::int64_t block, const Level* levels,
                     const std::int64_t* parents, unsigned long long* sum) {
  unsigned long long own = 0;
  for (std::int64_t vertex = thread_index(); vertex < block; vertex += thread_count()) {
    if (levels[vertex] != no_level) {
      const auto number = static_cast<std::uint64_t>(first_own + vertex);
      own += mix(mix(mix(number) ^ static_cast<std::uint64_t>(parents[vertex])) ^ levels[vertex]);
    }
  }
  add_of_warp(own, sum);
}

}  // namespace kernels

void queue_levels(const example::Stream& stream, const std::uint32_t* frontier, std::int64_t words,
                  Level level, Level* levels) {
  example::launch(stream, words, kernels::set_levels, frontier, words, level, levels);
}

struct TopDown::Temporary {
  example::Scratch scratch;
};

TopDown::TopDown(std::int64_t most_sources)
    : starts_(static_cast<std::size_t>(most_sources) + 1), temporary_(std::make_unique<Temporary>()) {}
TopDown::~TopDown() = default;

void TopDown::queue(const example::Stream& stream, const Rows& by_source, std::int64_t entry_count,
                    const std::uint32_t* list, std::int64_t count, const std::uint32_t* seen,
                    std::uint32_t* found, std::uint32_t* parents) {
  if (count == 0 || entry_count == 0) {
    return;
  }
  example::launch(stream, count + 1, kernels::count_neighbours, by_source, list, count, starts_.get());
  example::exclusive_sum(stream, temporary_->scratch, starts_.get(), starts_.get(), count + 1);
  example::launch(stream, std::min(entry_count, many_threads), kernels::top_down, by_source, list, count,
                  starts_.get(), seen, found, parents);
}

void queue_advance(const example::Stream& stream, const std::uint32_t* found, const std::uint32_t* edge_ends,
                   std::int64_t words, std::uint32_t* seen, std::uint32_t* frontier, FrontierSize* size) {
  example::launch(stream, std::min(words, many_threads), kernels::advance, found, edge_ends, words, seen,
                  frontier, size);
}

void queue_bottom_up(const example::Stream& stream, const Rows& by_target, const std::uint32_t* frontier,
                     const std::uint32_t* seen, std::uint32_t* found, std::uint32_t* parents) {
  example::launch(stream, std::min(by_target.count, many_threads), kernels::bottom_up, by_target, frontier,
                  seen, found, parents);
}

void queue_drop_late_parents(const example::Stream& stream, const Level* target_levels,
                             const Level* source_levels, std::int64_t targets, std::uint32_t* parents) {
  example::launch(stream, targets, kernels::drop_late_parents, target_levels, source_levels, targets,
                  parents);
}

void queue_choose_parents(const example::Stream& stream, const Candidates& candidates, std::int64_t block,
                          std::int64_t sources, std::int64_t* parents) {
  example::launch(stream, block, kernels::choose_parents, candidates, block, sources, parents);
}

void queue_hash(const example::Stream& stream, std::int64_t first_own, std::int64_t block,
                const Level* levels, const std::int64_t* parents, unsigned long long* hash) {
  example::launch(stream, std::min(block, many_threads), kernels::hash, first_own, block, levels, parents,
                  hash);
}

}  // namespace bfs
