// The arithmetic that the operator is held to, line by line: operations and bytes a site, and the roofs of
// two GPUs.
#include "examples/dslash/counts.hpp"

#include <gtest/gtest.h>

namespace dslash {
namespace {

constexpr double h100 = 3.35e12;  // bytes/s of memory
constexpr double h200 = 4.8e12;

TEST(DslashCounts, of_the_hopping_term_are_those_of_eight_neighbours) {
  constexpr int projections =
      6 * 12;  // in time, half a spinor is just taken, and its factor of 2 goes with the sum
  constexpr int products = 8 * 2 * 66;  // two colour vectors a neighbour
  constexpr int additions = 7 * 24;
  constexpr int time_projections_as_counted = 2 * 12;
  EXPECT_EQ(projections + time_projections_as_counted + products + additions, hop_flops);
}

TEST(DslashCounts, of_bytes_in_single_precision_are_1152_without_reuse_and_576_with) {
  EXPECT_EQ(hop_bytes(Reuse::none, 4), 8 * 12 * 4 + (6 * 24 + 2 * 12) * 4 + 24 * 4);
  EXPECT_EQ(hop_bytes(Reuse::none, 4), 1152);
  EXPECT_EQ(hop_bytes(Reuse::perfect, 4), 576);
}

TEST(DslashCounts, of_the_clover_matrix_are_the_papers) {
  EXPECT_EQ(clover_matrix_flops, 3696);
  EXPECT_EQ(clover_matrix_bytes(Reuse::none, 4), 2976);
  EXPECT_EQ(clover_matrix_bytes(Reuse::perfect, 4), 1824);
}

TEST(DslashCounts, of_several_right_hand_sides_share_the_links) {
  for (const int sides : {1, 2, 4, 6, 12}) {
    EXPECT_DOUBLE_EQ(hop_bytes(Reuse::perfect, 4, 12, sides), 192 + 384.0 / sides);
  }
  EXPECT_DOUBLE_EQ(hop_bytes(Reuse::perfect, 4, 12, 6), 256);
}

TEST(DslashCounts, of_half_precision_are_half_and_the_norms) {
  EXPECT_EQ(hop_bytes(Reuse::none, 2), 1152 / 2 + 9 * 4);
  EXPECT_EQ(hop_bytes(Reuse::perfect, 2), 576 / 2 + 2 * 4);
}

TEST(DslashCounts, give_the_roofs_of_h100_and_h200) {
  EXPECT_NEAR(roof_tflops(hop_flops, 1152, h100), 3.8, 0.05);
  EXPECT_NEAR(roof_tflops(hop_flops, 576, h100), 7.7, 0.05);
  EXPECT_NEAR(roof_tflops(clover_matrix_flops, 2976, h100), 4.2, 0.05);
  EXPECT_NEAR(roof_tflops(clover_matrix_flops, 1824, h100), 6.8, 0.05);
  EXPECT_NEAR(roof_tflops(hop_flops, 256, h100), 17, 0.5);
  EXPECT_NEAR(roof_tflops(hop_flops, 288, h100), 15, 0.5);
  EXPECT_NEAR(roof_tflops(hop_flops, 1152, h200), 5.5, 0.05);
  EXPECT_NEAR(roof_tflops(hop_flops, 576, h200), 11.0, 0.05);
  EXPECT_NEAR(roof_tflops(clover_matrix_flops, 2976, h200), 6.0, 0.05);
  EXPECT_NEAR(roof_tflops(clover_matrix_flops, 1824, h200), 9.7, 0.05);
  EXPECT_NEAR(roof_tflops(hop_flops, 256, h200), 25, 0.5);
  EXPECT_NEAR(roof_tflops(hop_flops, 288, h200), 22, 0.5);
}

}  // namespace
}  // namespace dslash
