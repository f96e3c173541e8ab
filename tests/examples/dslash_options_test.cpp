// The Wilson operator's command line: what it takes, and what it says of what it does not take.
#include "examples/dslash/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/examples/command_line_outcome.hpp"

namespace dslash {
namespace {

auto read(const std::vector<std::string>& arguments, int rank = 0, int rank_count = 1) {
  return penstock::test::outcome_of(read_options, arguments, rank, rank_count);
}

void expect_refusal(const std::string& words, const std::vector<std::string>& arguments, int rank_count = 1) {
  penstock::test::expect_refused(read(arguments, 0, rank_count), words);
}

TEST(DslashOptions, refuse_odd_extents) {
  expect_refusal("all extents must be even and positive, got 7", {"--lattice", "8,7,8,8"});
  expect_refusal("all extents must be even and positive, got 5", {"--lattice", "8,8,8,5"});
  expect_refusal("all extents must be even and positive, got 0", {"--lattice", "0,8,8,8"});
  expect_refusal("all extents must be even and positive, got -4", {"--lattice", "4,4,4,-4"});
  EXPECT_TRUE(read({"--lattice", "2x4x6x2"}).options);
}

TEST(DslashOptions, refuse_a_lattice_that_is_none) {
  for (const char* lattice : {"8", "8,8,8", "8,8,8,8,8", "8,8,8,8z", "", "8;8;8;8"}) {
    expect_refusal("expected X,Y,Z,T, got " + std::string(lattice), {"--lattice", lattice});
  }
}

TEST(DslashOptions, say_over_which_ranks_the_slices_can_be_split) {
  expect_refusal(
      "12 time slices cannot be split over 5 ranks, at least two each; over these they can: 1, 2, 3, 4, 6",
      {"--lattice", "4,4,4,12"}, 5);
  expect_refusal("4 time slices cannot be split over 4 ranks, at least two each; over these they can: 1, 2",
                 {"--lattice", "4,4,4,4"}, 4);
  EXPECT_TRUE(read({"--lattice", "4,4,4,12"}, 0, 4).options);
  EXPECT_TRUE(read({"--lattice", "4,4,4,2", "--scaling", "weak"}, 0, 5).options);
}

TEST(DslashOptions, refuse_a_lattice_too_large_to_index) {
  expect_refusal("2^30 sites at most; take more ranks", {"--lattice", "256,256,256,256"});
  expect_refusal("a time slice may have 2^24 sites at most", {"--lattice", "512,256,256,2"});
}

TEST(DslashOptions, say_over_which_ranks_planes_cannot_be_split) {
  expect_refusal("--split-z: 3 does not divide 4 ranks", {"--lattice", "4,4,6,4", "--split-z", "3"}, 4);
  expect_refusal("--split-z: 6 planes along z cannot be split over 4 ranks, at least two each",
                 {"--lattice", "4,4,6,4", "--split-z", "4"}, 4);
  expect_refusal("with --reduction by-slice it must divide 2",
                 {"--lattice", "8,8,6,16", "--split-z", "3", "--solve", "--reduction", "by-slice"}, 3);
  expect_refusal("not with --scaling", {"--split-z", "2", "--scaling", "strong"}, 2);
  EXPECT_TRUE(read({"--lattice", "4,4,6,4", "--split-z", "2"}, 0, 4).options);
  EXPECT_TRUE(read({"--lattice", "4,4,6,2", "--split-z", "2"}, 0, 2).options);
}

TEST(DslashOptions, say_which_precisions_solve_and_which_apply) {
  expect_refusal("half alone solves nothing", {"--solve", "--precision", "half"});
  expect_refusal("single-half needs --solve", {"--precision", "single-half"});
  EXPECT_TRUE(read({"--precision", "half"}).options);
  EXPECT_TRUE(read({"--solve", "--precision", "double-half"}).options);
}

TEST(DslashOptions, refuse_to_verify_what_lacks_a_stage) {
  expect_refusal("results are wrong", {"--without", "comms", "--verify"});
  expect_refusal("results are wrong", {"--without", "pack", "--solve"});
  expect_refusal("tuned is not for --without", {"--without", "pack", "--policy", "tuned"});
  expect_refusal("copy needs --exchange staged-by-hand", {"--without", "copy"});
  EXPECT_TRUE(read({"--without", "copy", "--exchange", "staged-by-hand"}).options);
}

TEST(DslashOptions, say_what_a_choice_is_between) {
  expect_refusal("by-post not in {none,one-stream,streams,streams-two,fused-pack,direct,all,tuned}",
                 {"--policy", "by-post"});
  expect_refusal("quarter not in {double,double-half,half,single,single-half}", {"--precision", "quarter"});
  expect_refusal("--rows", {"--rows", "1"});
  expect_refusal("5 not in {1,2,4,6,12}", {"--right-hand-sides", "5"});
  expect_refusal("gauss not in {bicgstab,cg}", {"--solve", "--solver", "gauss"});
  expect_refusal("all is not for --solve", {"--solve", "--policy", "all"});
  expect_refusal("not with --solve or --verify", {"--scaling", "weak", "--verify"});
}

TEST(DslashOptions, refuse_numbers_without_sense) {
  expect_refusal("--anisotropy: must be positive", {"--anisotropy", "0"});
  expect_refusal("--kappa: must be positive", {"--kappa", "nan"});
  expect_refusal("--noise: from 0 to 1", {"--noise", "2"});
  expect_refusal("at least 1", {"--iterations", "0"});
  expect_refusal("between 0 and 1", {"--tolerance", "1"});
}

TEST(DslashOptions, print_the_table_of_policies) {
  testing::internal::CaptureStdout();
  const auto outcome = read({"--policies"});
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_FALSE(outcome.options);
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* policy : {"none", "one-stream", "streams", "streams-two", "fused-pack", "direct"}) {
    EXPECT_NE(printed.find(policy), std::string::npos) << policy;
  }
}

}  // namespace
}  // namespace dslash
