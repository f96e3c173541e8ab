// The command line of the particles: what it takes, and what it says of what it does not take.
#include "examples/particles/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/examples/command_line_outcome.hpp"

namespace particles {
namespace {

auto read(const std::vector<std::string>& arguments, int rank = 0, int rank_count = 1) {
  return penstock::test::outcome_of(read_options, arguments, rank, rank_count);
}

void expect_refusal(const std::string& words, const std::vector<std::string>& arguments, int rank_count = 1) {
  penstock::test::expect_refused(read(arguments, 0, rank_count), words);
}

TEST(ParticlesOptions, are_a_box_in_slabs_unless_told) {
  const Options options = *read({}, 0, 3).options;
  EXPECT_EQ(options.shape, Shape::box);
  EXPECT_EQ(options.partition, "slabs");
  EXPECT_EQ(options.pieces, 3);
  EXPECT_EQ(options.send, Send::selective);
  EXPECT_EQ(options.exchange, example::Exchange::device);
  EXPECT_TRUE(options.overlap);
}

TEST(ParticlesOptions, are_taken) {
  const Options options = *read({"--domain",
                                 "tube",
                                 "--size",
                                 "20",
                                 "--radius",
                                 "3,2",
                                 "--bounce-back",
                                 "--density",
                                 "4",
                                 "--steps",
                                 "7",
                                 "--partition",
                                 "scotch",
                                 "--send",
                                 "all-to-all-neighbours",
                                 "--exchange",
                                 "staged-by-hand",
                                 "--no-overlap",
                                 "--voxels-per-cutoff",
                                 "3",
                                 "--ranks-as",
                                 "64",
                                 "--dry-run",
                                 "--verify",
                                 "--json",
                                 "--bench",
                                 "5"})
                               .options;
  EXPECT_EQ(options.shape, Shape::tube);
  EXPECT_EQ(options.size[0], 20);
  EXPECT_EQ(options.radii, (std::array<double, 2>{3, 2}));
  EXPECT_TRUE(options.bounces_back);
  EXPECT_EQ(options.density, 4);
  EXPECT_EQ(options.steps, 7);
  EXPECT_EQ(options.partition, "scotch");
  EXPECT_EQ(options.send, Send::all_to_all_neighbours);
  EXPECT_EQ(options.exchange, example::Exchange::staged_by_hand);
  EXPECT_FALSE(options.overlap);
  EXPECT_EQ(options.voxels_per_cutoff, 3U);
  EXPECT_EQ(options.pieces, 64);
  EXPECT_TRUE(options.dry_run);
  EXPECT_EQ(options.rounds, 5);
}

TEST(ParticlesOptions, have_a_vessel_unless_the_domain_is_a_box_and_no_file_describes_one) {
  EXPECT_FALSE(read({}).options->has_vessel());
  EXPECT_TRUE(read({"--domain", "tree"}).options->has_vessel());
  EXPECT_TRUE(read({"--geometry", "vessel.json"}).options->has_vessel());
}

TEST(ParticlesOptions, take_one_side_for_all_or_three) {
  EXPECT_EQ(read({"--size", "9.5"}).options->size, (std::array<double, 3>{9.5, 9.5, 9.5}));
  EXPECT_EQ(read({"--size", "9x8x7"}).options->size, (std::array<double, 3>{9, 8, 7}));
  for (const char* size : {"", "x", "9x", "9x8", "9x8x7x6", "9x8x", "9,8,7", "nine"}) {
    expect_refusal(std::string("--size: expected a number, or three as 16x16x32, got ") + size,
                   {"--size", size});
  }
  expect_refusal("--radius: expected a number, or two as 4,3, got 4,3,2", {"--radius", "4,3,2"});
}

TEST(ParticlesOptions, say_what_a_domain_must_be) {
  expect_refusal("a periodic box has 3 cutoffs along each side at least", {"--size", "9x9x2.9"});
  expect_refusal("a periodic box has 3 cutoffs along each side at least", {"--size", "nan"});
  expect_refusal("the length of a vessel is positive", {"--domain", "tube", "--size", "0"});
  expect_refusal("the radius of a vessel is 10000 at most", {"--domain", "tree", "--radius", "20000"});
  expect_refusal("--depth: Value 17 not in range", {"--domain", "tree", "--depth", "17"});
  expect_refusal("--time-step: Value 0 not in range", {"--time-step", "0"});
  expect_refusal("--density", {"--density", "-1"});
  expect_refusal("not in {box,tree,tube}", {"--domain", "torus"});
  expect_refusal("not in {all-to-all-neighbours,selective}", {"--send", "nothing"});
  expect_refusal("not in {device,staged-by-hand}", {"--exchange", "by-post"});
}

TEST(ParticlesOptions, partition_for_other_ranks_only_without_running) {
  expect_refusal("--ranks-as: only with --dry-run", {"--ranks-as", "8"}, 2);
  EXPECT_EQ(read({"--ranks-as", "8", "--dry-run"}, 0, 2).options->pieces, 8);
}

TEST(ParticlesOptions, are_complained_about_by_rank_0_alone) {
  const auto outcome = read({"--size", "1"}, 1, 2);
  EXPECT_FALSE(outcome.options);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors, "");
}

}  // namespace
}  // namespace particles
