#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "examples/bfs/kronecker.hpp"
#include "examples/bfs/partition.hpp"

namespace bfs {
namespace {

TEST(Kronecker, permutes_the_numbers_of_the_vertices) {
  for (int bits = 1; bits <= 12; ++bits) {
    const Permutation permutation{bits, {0x9E3779B97F4A7C15, 3, 5}, {1, 0x1234567, 99}};
    std::set<std::int64_t> images;
    for (std::uint64_t number = 0; number < std::uint64_t{1} << bits; ++number) {
      const std::int64_t image = permutation(number);
      EXPECT_GE(image, 0);
      EXPECT_LT(image, std::int64_t{1} << bits);
      images.insert(image);
    }
    EXPECT_EQ(images.size(), std::size_t{1} << bits) << bits;
  }
}

TEST(Kronecker, makes_as_many_edges_as_the_edge_factor_says_between_vertices_that_there_are) {
  const Kronecker kronecker(7, 16, 3);
  EXPECT_EQ(kronecker.vertices(), 128);
  EXPECT_EQ(kronecker.edges(), 128 * 16);
  for (std::int64_t index = 0; index < kronecker.edges(); ++index) {
    const Edge edge = kronecker.edge(index);
    EXPECT_GE(std::min(edge.first, edge.second), 0);
    EXPECT_LT(std::max(edge.first, edge.second), 128);
  }
}

// Two vertices, so an edge is one of the four quadrants, and a permutation of two numbers can swap A with D
// and B with C at most.
TEST(Kronecker, puts_edges_into_quadrants_with_the_specified_probabilities) {
  const Kronecker kronecker(1, 1 << 19, 5);
  double counts[2][2] = {};
  for (std::int64_t index = 0; index < kronecker.edges(); ++index) {
    const Edge edge = kronecker.edge(index);
    ++counts[edge.first][edge.second];
  }
  const auto edges = static_cast<double>(kronecker.edges());
  const double five_standard_errors = 5 * 0.5 / std::sqrt(edges);
  const int a = counts[0][0] > counts[1][1] ? 0 : 1;
  EXPECT_NEAR(counts[a][a] / edges, 0.57, five_standard_errors);
  EXPECT_NEAR(counts[0][1] / edges, 0.19, five_standard_errors);
  EXPECT_NEAR(counts[1][0] / edges, 0.19, five_standard_errors);
  EXPECT_NEAR(counts[1 - a][1 - a] / edges, 0.05, five_standard_errors);
}

// Of two levels: the quadrant within a quadrant is drawn anew, so the most probable edge has 0.57 squared.
TEST(Kronecker, draws_each_bit_of_the_vertices_anew) {
  const Kronecker kronecker(2, 1 << 18, 5);
  std::vector<double> degrees(4);
  double loops = 0;
  for (std::int64_t index = 0; index < kronecker.edges(); ++index) {
    const Edge edge = kronecker.edge(index);
    ++degrees[static_cast<std::size_t>(edge.first)];
    loops += edge.first == edge.second ? 1 : 0;
  }
  const auto edges = static_cast<double>(kronecker.edges());
  const double five_standard_errors = 5 * 0.5 / std::sqrt(edges);
  std::sort(degrees.begin(), degrees.end());
  EXPECT_NEAR(degrees[3] / edges, 0.76 * 0.76, five_standard_errors);
  EXPECT_NEAR(degrees[0] / edges, 0.24 * 0.24, five_standard_errors);
  EXPECT_NEAR(loops / edges, 0.62 * 0.62, five_standard_errors);
}

TEST(Kronecker, makes_another_graph_of_another_seed) {
  const Kronecker one(10, 16, 1);
  const Kronecker other(10, 16, 2);
  int same = 0;
  for (std::int64_t index = 0; index < 1000; ++index) {
    same += one.edge(index).first == other.edge(index).first ? 1 : 0;
  }
  EXPECT_LT(same, 100);
}

TEST(Kronecker, tries_vertices_all_over_the_graph_as_roots) {
  const Kronecker kronecker(4, 16, 1);
  std::set<std::int64_t> tried;
  for (std::int64_t index = 0; index < 200; ++index) {
    tried.insert(kronecker.root_candidate(index));
  }
  EXPECT_EQ(tried.size(), 16u);
  EXPECT_EQ(*tried.begin(), 0);
  EXPECT_EQ(*tried.rbegin(), 15);
}

std::vector<Partition> partition_of(std::int64_t vertices, Grid grid) {
  std::vector<Partition> ranks;
  for (int rank = 0; rank < grid.rows * grid.columns; ++rank) {
    ranks.emplace_back(vertices, grid, rank);
  }
  return ranks;
}

TEST(BfsPartition, gives_each_edge_to_one_rank_in_the_column_of_its_source_and_the_row_of_its_target) {
  for (const Grid grid : {Grid{1, 1}, Grid{2, 1}, Grid{1, 3}, Grid{2, 2}, Grid{3, 2}}) {
    const std::vector<Partition> ranks = partition_of(256, grid);
    const auto owner = [&](std::int64_t vertex) {
      return *std::find_if(ranks.begin(), ranks.end(),
                           [&](const Partition& rank) { return rank.owns(vertex); });
    };
    for (std::int64_t from = 0; from < 256; ++from) {
      for (std::int64_t to = 0; to < 256; ++to) {
        int holders = 0;
        for (const Partition& rank : ranks) {
          if (rank.holds_edge(from, to)) {
            ++holders;
            EXPECT_EQ(rank.column(), owner(from).column());
            EXPECT_EQ(rank.row(), owner(to).row());
          }
        }
        EXPECT_EQ(holders, 1) << from << " " << to;
      }
    }
  }
}

TEST(BfsPartition, numbers_sources_and_targets_without_gaps_own_ones_where_it_says) {
  for (const Grid grid : {Grid{1, 1}, Grid{2, 1}, Grid{1, 2}, Grid{2, 2}, Grid{3, 2}}) {
    const std::int64_t vertices = 32 * grid.rows * grid.columns * 2;
    for (const Partition& rank : partition_of(vertices, grid)) {
      std::set<std::uint32_t> sources;
      std::set<std::uint32_t> targets;
      for (std::int64_t vertex = 0; vertex < vertices; ++vertex) {
        if (rank.holds_edge(vertex, rank.first_own())) {
          sources.insert(rank.local_source(vertex));
        }
        if (rank.holds_edge(rank.first_own(), vertex)) {
          targets.insert(rank.local_target(vertex));
        }
      }
      EXPECT_EQ(static_cast<std::int64_t>(sources.size()), rank.sources());
      EXPECT_EQ(*sources.rbegin() + 1, rank.sources());
      EXPECT_EQ(static_cast<std::int64_t>(targets.size()), rank.targets());
      EXPECT_EQ(*targets.rbegin() + 1, rank.targets());
      EXPECT_EQ(rank.local_source(rank.first_own()), rank.own_sources());
      EXPECT_EQ(rank.local_target(rank.first_own()), rank.own_targets());
    }
  }
}

TEST(BfsPartition, has_blocks_of_whole_words_also_where_vertices_do_not_suffice) {
  EXPECT_EQ(Partition(2, {2, 2}, 3).block(), 32);
  EXPECT_EQ(Partition(1024, {3, 1}, 0).block(), 352);
  EXPECT_EQ(Partition(1024, {2, 2}, 0).block(), 256);
}

TEST(BfsPartition, takes_the_squarest_grid_with_no_more_columns_than_rows) {
  for (const auto& [ranks, rows] :
       {std::pair{1, 1}, {2, 2}, {3, 3}, {4, 2}, {6, 3}, {8, 4}, {12, 4}, {16, 4}}) {
    EXPECT_EQ(grid_for(ranks).rows, rows) << ranks;
    EXPECT_EQ(grid_for(ranks).rows * grid_for(ranks).columns, ranks);
  }
}

}  // namespace
}  // namespace bfs
