// The Ising example's command line: what it takes, and what it says of what it does not take.
#include "examples/ising/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/examples/command_line_outcome.hpp"

namespace ising {
namespace {

auto read(const std::vector<std::string>& arguments, int rank = 0, int rank_count = 1) {
  return penstock::test::outcome_of(read_options, arguments, rank, rank_count);
}

void expect_refusal(const std::string& words, const std::vector<std::string>& arguments) {
  penstock::test::expect_refused(read(arguments), words);
}

TEST(IsingOptions, say_which_lattices_have_a_checkerboard) {
  expect_refusal("a multiple of 8 for a single replica, got 12x12x12", {"--lattice", "12"});
  expect_refusal("must be even for the checkerboard layout, got 8x7x4", {"--lattice", "8x7x4"});
  expect_refusal("must be even for the checkerboard layout, got 8x7", {"--lattice", "8x7"});
  expect_refusal("must be even for the checkerboard layout, got 7x8x8",
                 {"--replicas", "32", "--lattice", "7x8x8"});
  EXPECT_TRUE(read({"--lattice", "8x2x4"}).options);
  EXPECT_TRUE(read({"--replicas", "32", "--lattice", "2x6x4"}).options);
}

TEST(IsingOptions, say_which_lattices_can_be_sliced) {
  const std::string sliced = "leave 0 or 2 when divided by it, as in any cube, for the sliced layout, got ";
  for (const char* lattice : {"9x8x8", "8x9x8", "8x8x1"}) {
    expect_refusal(sliced + lattice, {"--replicas", "32", "--layout", "sliced", "--lattice", lattice});
  }
  for (const char* lattice : {"7", "2x3x3", "12x8x6", "9x3"}) {
    EXPECT_TRUE(read({"--replicas", "32", "--layout", "sliced", "--lattice", lattice}).options) << lattice;
  }
  expect_refusal("sliced needs --replicas 32", {"--layout", "sliced"});
}

TEST(IsingOptions, refuse_a_lattice_that_is_none) {
  expect_refusal("must be positive", {"--lattice", "0x2x4"});
  expect_refusal("must be positive", {"--lattice", "-8"});
  for (const char* lattice : {"8x8x8x8", "cube", "8x", "8x8x8z", ""}) {
    expect_refusal("expected N, XxY or XxYxZ, got " + std::string(lattice), {"--lattice", lattice});
  }
}

TEST(IsingOptions, refuse_a_lattice_too_large_to_index) {
  expect_refusal("2^30 sites at most", {"--lattice", "65536x65536x2"});
  expect_refusal("a rank may have 2^31 sites at most, halos included; take more ranks",
                 {"--replicas", "32", "--lattice", "2048"});
  expect_refusal("a rank may have 2^34 sites at most", {"--lattice", "4096"});
  EXPECT_TRUE(read({"--replicas", "32", "--lattice", "2048"}, 0, 8).options);
}

TEST(IsingOptions, refuse_more_ranks_than_planes) {
  EXPECT_FALSE(read({"--lattice", "8x8x2"}, 0, 3).options);
  EXPECT_TRUE(read({"--lattice", "8x8x2"}, 0, 2).options);
}

TEST(IsingOptions, say_what_a_choice_is_between) {
  expect_refusal("7 not in {1,32}", {"--replicas", "7"});
  expect_refusal("diagonal not in {checkerboard,sliced}", {"--layout", "diagonal"});
  expect_refusal("antiferromagnet not in {ferromagnet,glass,nishimori}", {"--couplings", "antiferromagnet"});
  expect_refusal("carrier-pigeon not in {device,staged-by-hand}", {"--exchange", "carrier-pigeon"});
}

TEST(IsingOptions, refuse_numbers_without_sense) {
  expect_refusal("from 1 to the number of sweeps", {"--sweeps", "10", "--measurements", "11"});
  expect_refusal("from 1 to the number of sweeps", {"--measurements", "0"});
  expect_refusal("not negative", {"--temperature=-1"});
  expect_refusal("not negative", {"--temperature", "nan"});
  expect_refusal("--sweeps", {"--sweeps", "many"});
  expect_refusal("--colour", {"--colour", "red"});
}

TEST(IsingOptions, are_complained_of_by_rank_0_only) {
  const auto outcome = read({"--lattice", "12"}, 1, 2);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors, "");
}

TEST(IsingOptions, with_two_extents_mean_a_square_lattice) {
  const auto outcome = read({"--lattice", "16x10"});
  ASSERT_TRUE(outcome.options);
  EXPECT_EQ(outcome.options->lattice.dimensions(), 2);
  EXPECT_EQ(outcome.options->lattice.sites(), 160);
}

}  // namespace
}  // namespace ising
