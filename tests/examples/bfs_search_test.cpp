// Searches on all ranks of the job, compared with the textbook's, and the validator given trees that are
// wrong.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <vector>

#include "examples/bfs/graph.hpp"
#include "examples/bfs/search.hpp"
#include "examples/bfs/validation.hpp"
#include "examples/support/ranks_gpu.hpp"
#include "tests/examples/bfs_reference.hpp"

namespace bfs {
namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::vector<Grid> all_grids() {
  std::vector<Grid> grids;
  for (int rows = 1; rows <= size_of_world(); ++rows) {
    if (size_of_world() % rows == 0) {
      grids.push_back({rows, size_of_world() / rows});
    }
  }
  return grids;
}

/// All blocks, on every rank.
template <typename Element>
std::vector<Element> gather(const Element* own, const Partition& partition) {
  const auto block = static_cast<std::size_t>(partition.block());
  std::vector<Element> mine(block);
  example::check(cudaMemcpy(mine.data(), own, block * sizeof(Element), cudaMemcpyDeviceToHost),
                 "copy a tree");
  std::vector<Element> all(block * static_cast<std::size_t>(partition.rank_count()));
  const int bytes = static_cast<int>(block * sizeof(Element));
  MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
  all.resize(static_cast<std::size_t>(partition.vertices()));
  return all;
}

struct Case {
  int scale;
  std::int64_t edge_factor;
  std::uint64_t seed;
};

/// Every root that has an edge, or a few of them.
void expect_trees_as_the_reference(Case made, Grid grid,
                                   const std::function<Plan(const Partition&)>& plan_for, int roots) {
  example::choose_gpu();
  const Kronecker kronecker(made.scale, made.edge_factor, made.seed);
  const Partition partition(kronecker.vertices(), grid, rank_of_world());
  Graph graph(kronecker, partition);
  graph.build();
  Search search(graph, plan_for(partition), MPI_COMM_WORLD);
  const Reference reference(kronecker);
  for (const std::int64_t root : choose_roots(graph, roots, MPI_COMM_WORLD)) {
    const Reached reached = search.run(root);
    const Tree expected = reference.search(root);
    EXPECT_EQ(gather(search.levels(), partition), expected.levels) << root;
    EXPECT_EQ(gather(search.parents(), partition), expected.parents) << root;
    EXPECT_EQ(reached.vertices, std::count_if(expected.levels.begin(), expected.levels.end(),
                                              [](Level level) { return level != no_level; }));
    EXPECT_EQ(reached.input_edges, reference.edges_in(expected));
  }
}

Plan switched(const Partition& partition) {
  return {.most_listed = partition.block_words()};
}
Plan lists(const Partition& partition) {
  return {.most_listed = partition.block()};
}
Plan bitmaps(const Partition&) {
  return {.most_listed = 0};
}
Plan top_down(const Partition& partition) {
  return {.direction = Direction::top_down, .most_listed = partition.block_words()};
}
Plan staged_by_hand(const Partition& partition) {
  return {.exchange = example::Exchange::staged_by_hand, .most_listed = partition.block_words()};
}

TEST(BfsSearch, finds_the_trees_of_the_reference_on_every_grid) {
  for (const Grid grid : all_grids()) {
    expect_trees_as_the_reference({8, 16, 1}, grid, switched, 2);
  }
}

TEST(BfsSearch, finds_the_trees_of_a_graph_of_many_components) {
  expect_trees_as_the_reference({6, 1, 2}, all_grids().back(), switched, size_of_world() == 1 ? 64 : 4);
}

TEST(BfsSearch, finds_the_trees_of_a_graph_with_fewer_vertices_than_a_word_has_bits) {
  expect_trees_as_the_reference({3, 2, 1}, all_grids().front(), switched, 2);
}

TEST(BfsSearch, finds_deep_trees) {
  expect_trees_as_the_reference({9, 1, 4}, all_grids().front(), lists, 1);
}

TEST(BfsSearch, finds_the_same_trees_by_lists_and_by_bitmaps) {
  expect_trees_as_the_reference({9, 8, 7}, grid_for(size_of_world()), lists, 2);
  expect_trees_as_the_reference({9, 8, 7}, grid_for(size_of_world()), bitmaps, 2);
}

TEST(BfsSearch, finds_the_same_trees_top_down_alone) {
  expect_trees_as_the_reference({9, 8, 7}, grid_for(size_of_world()), top_down, 2);
}

TEST(BfsSearch, goes_from_what_is_not_seen_to_the_frontier_while_that_is_large_unless_it_must_not) {
  example::choose_gpu();
  const Kronecker kronecker(8, 16, 1);
  const Partition partition(kronecker.vertices(), grid_for(size_of_world()), rank_of_world());
  Graph graph(kronecker, partition);
  graph.build();
  const std::int64_t root = choose_roots(graph, 1, MPI_COMM_WORLD).front();
  const Reached reached = Search(graph, switched(partition), MPI_COMM_WORLD).run(root);
  EXPECT_GT(reached.bottom_up_levels, 0);
  EXPECT_LT(reached.bottom_up_levels, reached.levels);
  EXPECT_EQ(Search(graph, top_down(partition), MPI_COMM_WORLD).run(root).bottom_up_levels, 0);
}

TEST(BfsSearch, finds_the_same_trees_staged_by_hand) {
  expect_trees_as_the_reference({9, 8, 7}, grid_for(size_of_world()), staged_by_hand, 2);
}

TEST(BfsSearch, takes_as_roots_each_vertex_with_an_edge_to_another_once_if_asked_for_too_many) {
  example::choose_gpu();
  const Kronecker kronecker(6, 1, 9);
  Graph graph(kronecker, Partition(kronecker.vertices(), all_grids().front(), rank_of_world()));
  graph.build();
  std::vector<std::int64_t> roots = choose_roots(graph, 1000, MPI_COMM_WORLD);
  std::sort(roots.begin(), roots.end());
  std::vector<std::int64_t> expected;
  const Reference reference(kronecker);
  for (std::int64_t vertex = 0; vertex < kronecker.vertices(); ++vertex) {
    const auto& neighbours = reference.neighbours(vertex);
    if (std::any_of(neighbours.begin(), neighbours.end(),
                    [&](std::int64_t other) { return other != vertex; })) {
      expected.push_back(vertex);
    }
  }
  EXPECT_EQ(roots, expected);
}

/// Copied, and seen by all streams: a plain copy to a GPU may return before it is.
template <typename Element>
void upload(Element* to, const std::vector<Element>& from) {
  example::check(cudaMemcpy(to, from.data(), from.size() * sizeof(Element), cudaMemcpyHostToDevice), "copy");
  example::check(cudaDeviceSynchronize(), "wait for a copy");
}

std::vector<std::uint32_t> unpacked(const std::vector<std::uint32_t>& bitmap, std::size_t first_word) {
  example::choose_gpu();
  const example::Stream stream(example::Priority::normal);
  const auto words = static_cast<std::int64_t>(bitmap.size());
  example::DeviceArray<std::uint32_t> device(bitmap.size());
  example::DeviceArray<std::uint32_t> list(bitmap.size() * 32);
  upload(device.get(), bitmap);
  Unpacker unpacker(words);
  unpacker.queue_places(stream, device.get(), words);
  const auto first = static_cast<std::int64_t>(first_word);
  unpacker.queue_list(stream, device.get(), first, words - first, list.get());
  stream.synchronize();
  std::uint32_t ends[2];
  example::check(cudaMemcpy(&ends[0], unpacker.places() + first, 4, cudaMemcpyDeviceToHost), "copy");
  example::check(cudaMemcpy(&ends[1], unpacker.places() + words, 4, cudaMemcpyDeviceToHost), "copy");
  std::vector<std::uint32_t> result(ends[1] - ends[0]);
  example::check(cudaMemcpy(result.data(), list.get(), result.size() * 4, cudaMemcpyDeviceToHost), "copy");
  return result;
}

TEST(BfsUnpacker, lists_every_bit_in_order_also_where_the_last_warp_has_few_words) {
  for (const std::size_t words : {1u, 2u, 31u, 32u, 33u, 63u, 65u}) {
    for (const std::uint32_t pattern : {0u, 1u, 0x80000000u, 0xA5000013u, 0xFFFFFFFFu}) {
      std::vector<std::uint32_t> bitmap(words);
      for (std::size_t word = 0; word < words; ++word) {
        bitmap[word] = word % 3 == 1 ? 0 : pattern << word % 5;
      }
      for (const std::size_t first_word : {std::size_t{0}, words / 2}) {
        std::vector<std::uint32_t> expected;
        for (std::size_t bit = first_word * 32; bit < words * 32; ++bit) {
          if ((bitmap[bit / 32] >> bit % 32 & 1) != 0) {
            expected.push_back(static_cast<std::uint32_t>(bit - first_word * 32));
          }
        }
        EXPECT_EQ(unpacked(bitmap, first_word), expected) << words << " words from " << first_word;
      }
    }
  }
}

TEST(BfsUnpacker, is_undone_by_packing) {
  example::choose_gpu();
  const example::Stream stream(example::Priority::normal);
  const std::vector<std::uint32_t> bitmap{0x80000001, 0, 0x00FF00FF};
  const std::vector<std::uint32_t> list = unpacked(bitmap, 0);
  example::DeviceArray<std::uint32_t> device_list(list.size());
  example::DeviceArray<std::uint32_t> device(bitmap.size());
  upload(device_list.get(), list);
  upload(device.get(), std::vector<std::uint32_t>(bitmap.size()));
  queue_pack(stream, device_list.get(), static_cast<std::int64_t>(list.size()), device.get());
  stream.synchronize();
  std::vector<std::uint32_t> packed(bitmap.size());
  example::check(cudaMemcpy(packed.data(), device.get(), packed.size() * 4, cudaMemcpyDeviceToHost), "copy");
  EXPECT_EQ(packed, bitmap);
}

/// A graph, a right tree, and what the validator says of another.
class BfsValidator : public testing::Test {
 protected:
  using Counts = std::array<std::int64_t, rule_count>;

  BfsValidator()
      : kronecker_((example::choose_gpu(), 7), 4, 3),
        partition_(kronecker_.vertices(), grid_for(size_of_world()), rank_of_world()),
        reference_(kronecker_),
        validator_(kronecker_, partition_, example::Exchange::device, MPI_COMM_WORLD),
        tree_(reference_.search(central_vertex())) {}

  [[nodiscard]] Counts violations() {
    const auto block = static_cast<std::size_t>(partition_.block());
    example::DeviceArray<std::int64_t> parents(block);
    example::DeviceArray<Level> levels(block);
    std::vector<std::int64_t> own_parents(block, not_in_tree);
    std::vector<Level> own_levels(block, no_level);
    for (std::size_t own = 0; own < block; ++own) {
      const std::size_t vertex = static_cast<std::size_t>(partition_.first_own()) + own;
      if (vertex < tree_.parents.size()) {
        own_parents[own] = tree_.parents[vertex];
        own_levels[own] = tree_.levels[vertex];
      }
    }
    upload(parents.get(), own_parents);
    upload(levels.get(), own_levels);
    return validator_.violations(tree_.root, parents.get(), levels.get());
  }

  [[nodiscard]] std::int64_t& parent(std::int64_t vertex) {
    return tree_.parents[static_cast<std::size_t>(vertex)];
  }
  [[nodiscard]] Level& level(std::int64_t vertex) { return tree_.levels[static_cast<std::size_t>(vertex)]; }
  [[nodiscard]] bool is_leaf(std::int64_t vertex) {
    return parent(vertex) != not_in_tree && vertex != tree_.root &&
           std::find(tree_.parents.begin(), tree_.parents.end(), vertex) == tree_.parents.end();
  }
  [[nodiscard]] bool are_neighbours(std::int64_t vertex, std::int64_t other) const {
    const auto& neighbours = reference_.neighbours(vertex);
    return std::find(neighbours.begin(), neighbours.end(), other) != neighbours.end();
  }
  /// The first pair of different vertices of the tree for which that holds.
  template <typename Condition>
  [[nodiscard]] Edge find_pair(Condition condition) {
    for (std::int64_t vertex = 0; vertex < kronecker_.vertices(); ++vertex) {
      for (std::int64_t other = 0; other < kronecker_.vertices(); ++other) {
        if (vertex != other && level(vertex) != no_level && level(other) != no_level &&
            condition(vertex, other)) {
          return {vertex, other};
        }
      }
    }
    ADD_FAILURE() << "the graph has no such vertices";
    return {0, 0};
  }
  [[nodiscard]] std::int64_t find_leaf() {
    return find_pair([&](std::int64_t vertex, std::int64_t) { return is_leaf(vertex); }).first;
  }

  Kronecker kronecker_;
  Partition partition_;
  Reference reference_;
  Validator validator_;
  Tree tree_;

 private:
  /// Not one with most edges, so that the tree is deep enough for all ways to spoil it.
  [[nodiscard]] std::int64_t central_vertex() const {
    for (std::int64_t vertex = 0;; ++vertex) {
      if (reference_.neighbours(vertex).size() == 2 && reference_.neighbours(vertex)[0] != vertex) {
        return vertex;
      }
    }
  }
};

TEST_F(BfsValidator, finds_nothing_in_a_right_tree) {
  EXPECT_EQ(violations(), (Counts{0, 0, 0, 0, 0}));
}

TEST_F(BfsValidator, accepts_any_of_several_possible_parents) {
  const auto [vertex, other] = find_pair([&](std::int64_t child, std::int64_t candidate) {
    return are_neighbours(child, candidate) && candidate != parent(child) &&
           level(candidate) + 1 == level(child);
  });
  parent(vertex) = other;
  EXPECT_EQ(violations(), (Counts{0, 0, 0, 0, 0}));
}

TEST_F(BfsValidator, finds_a_cycle_by_rule_1) {
  const auto [vertex, other] = find_pair([&](std::int64_t child, std::int64_t candidate) {
    return parent(child) == candidate && candidate != tree_.root;
  });
  parent(other) = vertex;
  EXPECT_GE(violations()[0], 2);
}

TEST_F(BfsValidator, finds_a_vertex_that_is_its_own_parent_by_rule_1) {
  const std::int64_t leaf = find_leaf();
  parent(leaf) = leaf;
  EXPECT_EQ(violations()[0], 1);
}

TEST_F(BfsValidator, finds_parents_that_are_no_vertices_by_rule_1) {
  const std::int64_t leaf = find_leaf();
  for (const std::int64_t nobody : {kronecker_.vertices(), std::int64_t{-2}, INT64_MAX}) {
    parent(leaf) = nobody;
    EXPECT_EQ(violations()[0], 1) << nobody;
  }
}

TEST_F(BfsValidator, finds_a_parent_outside_of_the_tree_by_rule_1) {
  const std::int64_t leaf = find_leaf();
  const auto outside = std::find(tree_.parents.begin(), tree_.parents.end(), not_in_tree);
  ASSERT_NE(outside, tree_.parents.end());
  parent(leaf) = outside - tree_.parents.begin();
  EXPECT_EQ(violations()[0], 1);
}

TEST_F(BfsValidator, finds_a_root_with_another_parent_by_rule_1) {
  parent(tree_.root) = reference_.neighbours(tree_.root).front();
  EXPECT_EQ(violations()[0], 1);
}

TEST_F(BfsValidator, finds_a_tree_edge_over_two_levels_by_rule_2) {
  ++level(find_leaf());
  EXPECT_EQ(violations()[1], 1);
}

TEST_F(BfsValidator, finds_a_root_that_is_not_at_level_0_by_rule_2) {
  ++level(tree_.root);
  EXPECT_GE(violations()[1], 1);
}

TEST_F(BfsValidator, finds_a_level_outside_of_the_tree_by_rule_2) {
  const auto outside = std::find(tree_.parents.begin(), tree_.parents.end(), not_in_tree);
  ASSERT_NE(outside, tree_.parents.end());
  level(outside - tree_.parents.begin()) = 3;
  EXPECT_EQ(violations(), (Counts{0, 1, 0, 0, 0}));
}

TEST_F(BfsValidator, finds_a_vertex_further_from_the_root_than_need_be_by_rule_3) {
  const auto [leaf, other] = find_pair([&](std::int64_t vertex, std::int64_t candidate) {
    return is_leaf(vertex) && are_neighbours(vertex, candidate) && level(candidate) == level(vertex) + 1;
  });
  parent(leaf) = other;
  level(leaf) = static_cast<Level>(level(other) + 1);
  const Counts found = violations();
  EXPECT_GE(found[2], 1);
  EXPECT_EQ(found[0] + found[1] + found[3] + found[4], 0);
}

TEST_F(BfsValidator, finds_a_vertex_that_was_left_out_by_rule_4) {
  const std::int64_t leaf = find_leaf();
  parent(leaf) = not_in_tree;
  level(leaf) = no_level;
  const Counts found = violations();
  EXPECT_GE(found[3], 1);
  EXPECT_EQ(found[0] + found[1] + found[2] + found[4], 0);
}

TEST_F(BfsValidator, finds_a_tree_edge_that_is_not_in_the_input_by_rule_5) {
  const auto [vertex, other] = find_pair([&](std::int64_t child, std::int64_t candidate) {
    return child != tree_.root && !are_neighbours(child, candidate) && level(candidate) + 1 == level(child);
  });
  parent(vertex) = other;
  EXPECT_EQ(violations(), (Counts{0, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace bfs
