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
  EXPECT_EQ(options.exchange, Exchange::device);
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
  EXPECT_EQ(options.exchange, Exchange::staged_by_hand);
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
  expect_refusal("not in {device,neighbour,staged-by-hand}", {"--exchange", "by-post"});
}

TEST(ParticlesOptions, tell_counts_with_messages_unless_a_collective_asks_for_them_ahead) {
  EXPECT_EQ(read({}).options->counts, Counts::with);
  EXPECT_EQ(read({"--counts", "probe"}).options->counts, Counts::probe);
  EXPECT_EQ(read({"--counts", "ahead", "--exchange", "staged-by-hand"}).options->counts, Counts::ahead);
  EXPECT_EQ(read({"--exchange", "neighbour"}).options->counts, Counts::ahead);
  EXPECT_EQ(read({"--exchange", "neighbour", "--counts", "ahead"}).options->counts, Counts::ahead);
  for (const char* counts : {"with", "probe"}) {
    expect_refusal("--counts: a collective is told them ahead",
                   {"--exchange", "neighbour", "--counts", counts});
  }
  expect_refusal("not in {ahead,probe,with}", {"--counts", "never"});
}

TEST(ParticlesOptions, rebalance_never_unless_told_and_not_every_0_steps) {
  EXPECT_EQ(read({}).options->rebalance_every, 0);
  EXPECT_EQ(read({"--rebalance-every", "50"}).options->rebalance_every, 50);
  expect_refusal("--rebalance-every: Value 0 not in range", {"--rebalance-every", "0"});
  expect_refusal("--rebalance-every", {"--rebalance-every", "often"});
}

TEST(ParticlesOptions, take_files_for_pieces_and_particles) {
  const Options options = *read({"--ply", "pieces.ply", "--xyz", "particles.xyz"}).options;
  EXPECT_EQ(options.ply, "pieces.ply");
  EXPECT_EQ(options.xyz, "particles.xyz");
  EXPECT_EQ(read({"--ply", "pieces.ply", "--dry-run"}).options->ply, "pieces.ply");
  expect_refusal("--xyz: not with --dry-run", {"--xyz", "particles.xyz", "--dry-run"});
}

TEST(ParticlesOptions, have_what_is_usual_for_lennard_jones_unless_told) {
  const Options usual = *read({"--model", "lj"}).options;
  EXPECT_EQ(usual.pair, PairForce::lennard_jones);
  EXPECT_EQ(usual.density, 13.125);
  EXPECT_EQ(usual.temperature, 1.44);
  EXPECT_EQ(usual.time_step, 0.002);
  const Options told =
      *read({"--model", "lj", "--density", "3", "--temperature", "1", "--time-step", "0.01"}).options;
  EXPECT_EQ(told.density, 3);
  EXPECT_EQ(told.temperature, 1);
  EXPECT_EQ(told.time_step, 0.01);
  EXPECT_EQ(read({}).options->density, 3);
  const Options shifted = *read({"--model", "lj-force-shifted"}).options;
  EXPECT_EQ(shifted.pair, PairForce::lennard_jones_force_shifted);
  EXPECT_EQ(shifted.density, 13.125);
  expect_refusal("not in {lj,lj-force-shifted,soft}", {"--model", "hard"});
  expect_refusal("--repulsion: only with --model soft", {"--model", "lj", "--repulsion", "25"});
}

TEST(ParticlesOptions, take_friction_and_its_temperature_for_soft_particles) {
  EXPECT_FALSE(read({}).options->dpd);
  const Options options = *read({"--dpd", "4.5,0.8"}).options;
  ASSERT_TRUE(options.dpd);
  EXPECT_EQ(options.dpd->friction, 4.5);
  EXPECT_EQ(options.dpd->temperature, 0.8);
  for (const char* dpd : {"", "4.5", "4.5,", ",1", "4.5,1,2", "4.5,1,", "4.5x1", "much"}) {
    expect_refusal(std::string("--dpd: expected friction and temperature as 4.5,1, got ") + dpd,
                   {"--dpd", dpd});
  }
  expect_refusal("--dpd: friction is 0 to 10000", {"--dpd=-1,1"});
  expect_refusal("--dpd: friction is 0 to 10000", {"--dpd", "nan,1"});
  expect_refusal("--dpd: the temperature is 0 to 1000000", {"--dpd", "4.5,-1"});
  expect_refusal("--dpd: the temperature is 0 to 1000000", {"--dpd", "4.5,inf"});
  expect_refusal("--dpd: only with --model soft", {"--model", "lj", "--dpd", "4.5,1"});
}

TEST(ParticlesOptions, take_the_three_parts_of_a_body_force) {
  EXPECT_EQ(read({"--body-force", "0.1,0,-2"}).options->body_force, (std::array<double, 3>{0.1, 0, -2}));
  for (const char* force : {"", "1", "1,2", "1,2,", "1,2,3,4", "1x2x3"}) {
    expect_refusal(std::string("--body-force: expected three numbers as 0.1,0,0, got ") + force,
                   {"--body-force", force});
  }
  expect_refusal("--body-force: each part is 1000000 at most", {"--body-force", "0,nan,0"});
  expect_refusal("--body-force: each part is 1000000 at most", {"--body-force", "0,0,2e6"});
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
