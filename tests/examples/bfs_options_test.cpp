// The command line of the breadth-first search: what it takes, and what it says of what it does not take.
#include "examples/bfs/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/examples/command_line_outcome.hpp"

namespace bfs {
namespace {

auto read(const std::vector<std::string>& arguments, int rank = 0, int rank_count = 1) {
  return penstock::test::outcome_of(read_options, arguments, rank, rank_count);
}

void expect_refusal(const std::string& words, const std::vector<std::string>& arguments, int rank_count = 1) {
  penstock::test::expect_refused(read(arguments, 0, rank_count), words);
}

TEST(BfsOptions, are_those_of_the_benchmark_unless_told) {
  const Options options = *read({}).options;
  EXPECT_EQ(options.edge_factor, 16);
  EXPECT_EQ(options.roots, 64);
  EXPECT_EQ(options.exchange, example::Exchange::device);
  EXPECT_EQ(options.form, Form::measured);
  EXPECT_EQ(options.direction, Direction::optimising);
}

TEST(BfsOptions, are_taken) {
  const Options options =
      *read({"--scale", "20", "--edge-factor", "8", "--roots", "3", "--seed", "7", "--frontier", "lists",
             "--direction", "top-down", "--exchange", "staged-by-hand", "--verify", "--json"})
           .options;
  EXPECT_EQ(options.kronecker().vertices(), 1 << 20);
  EXPECT_EQ(options.kronecker().edges(), 8 << 20);
  EXPECT_EQ(options.roots, 3);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.form, Form::lists);
  EXPECT_EQ(options.direction, Direction::top_down);
  EXPECT_EQ(options.exchange, example::Exchange::staged_by_hand);
  EXPECT_TRUE(options.verify);
  EXPECT_TRUE(options.json);
}

TEST(BfsOptions, give_each_rank_a_place_in_the_grid) {
  const Options options = *read({"--grid", "1x4"}, 0, 4).options;
  EXPECT_EQ(options.grid.rows, 1);
  EXPECT_EQ(options.grid.columns, 4);
  EXPECT_EQ(read({}, 0, 6).options->grid.rows, 3);
  expect_refusal("rows times columns must be the number of ranks, 4, and not 3 x 2", {"--grid", "3x2"}, 4);
  expect_refusal("rows times columns must be the number of ranks, 4", {"--grid", "-2x-2"}, 4);
  for (const char* grid : {"4", "x", "2x", "x2", "2x2x1", "2 x 2", "two"}) {
    expect_refusal(std::string("expected rows x columns, as 4x2, got ") + grid, {"--grid", grid}, 4);
  }
}

TEST(BfsOptions, say_which_numbers_are_allowed) {
  expect_refusal("--scale: Value 0 not in range", {"--scale", "0"});
  expect_refusal("--scale: Value 41 not in range", {"--scale", "41"});
  expect_refusal("--scale", {"--scale", "large"});
  expect_refusal("--edge-factor: Value 0 not in range", {"--edge-factor", "0"});
  expect_refusal("--roots: Value 0 not in range", {"--roots", "0"});
  expect_refusal("a rank may own 2^29 vertices at most; take more ranks", {"--scale", "30"});
  expect_refusal("2^32 vertices at most in its row or column of the grid", {"--scale", "40"}, 4);
  EXPECT_TRUE(read({"--scale", "29"}).options);
  EXPECT_TRUE(read({"--scale", "31"}, 0, 4).options);
}

TEST(BfsOptions, say_which_names_are_allowed) {
  expect_refusal("not in {bitmaps,lists,measured,switched}", {"--frontier", "carrier-pigeons"});
  expect_refusal("not in {optimising,top-down}", {"--direction", "sideways"});
  expect_refusal("not in {device,staged-by-hand}", {"--exchange", "by-post"});
  expect_refusal("--colour", {"--colour", "red"});
}

TEST(BfsOptions, are_complained_about_by_rank_0_alone) {
  const auto outcome = read({"--scale", "0"}, 1, 2);
  EXPECT_FALSE(outcome.options);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors, "");
}

}  // namespace
}  // namespace bfs
