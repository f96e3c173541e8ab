#include "analysis/causes/timeline.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

Timeline timeline_of(const RecordingBuilder& builder) {
  const TemporaryDirectory directory;
  return make_timeline(load_rank(builder.write(directory.path())));
}

TEST(Timeline, kernels_that_overlap_are_counted_once) {
  const Timeline timeline =
      timeline_of(RecordingBuilder(0, 1).kernel(100, 200).kernel(150, 300).kernel(400, 450));
  EXPECT_EQ(timeline.kernels.measure_ns(), 250u);
}

TEST(Timeline, kernels_of_penstock_and_nccl_are_not_the_applications) {
  const Timeline timeline =
      timeline_of(RecordingBuilder(0, 1)
                      .kernel(0, 100, "pack", true)
                      .kernel(100, 200, "_Z33ncclDevKernel_AllReduce_Sum_f32_R4args")
                      .kernel(200, 300, "ncclKernel_Broadcast")
                      .kernel(300, 310, "my_ncclDevKernel_lookalike")
                      .kernel(400, 500, "_Z29ncclSymDevKernel_AllGather_LL10ncclSymDevArgs")
                      .kernel(500, 600, "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f32"));
  EXPECT_EQ(timeline.kernels.measure_ns(), 10u);
}

TEST(Timeline, only_calls_that_wait_or_carry_bytes_are_communication) {
  const Timeline timeline =
      timeline_of(RecordingBuilder(0, 1)
                      .call({.function = "MPI_Comm_rank", .begin = 0, .end = 100, .waits = 0})
                      .call({.function = "MPI_Isend", .begin = 200, .end = 210, .bytes = 8, .waits = 0})
                      .call({.function = "MPI_Barrier", .begin = 300, .end = 350, .waits = 1}));
  EXPECT_EQ(timeline.host.measure_ns(), 60u);
}

TEST(Timeline, calls_of_two_threads_count_each_moment_once_for_the_earlier_call) {
  const Timeline timeline = timeline_of(RecordingBuilder(0, 1)
                                            .on_lane(0)
                                            .call({.function = "MPI_Recv", .begin = 100, .end = 200})
                                            .on_lane(1)
                                            .call({.function = "MPI_Send", .begin = 150, .end = 260})
                                            .call({.function = "MPI_Send", .begin = 261, .end = 265})
                                            .on_lane(2)
                                            .call({.function = "MPI_Probe", .begin = 160, .end = 170}));
  EXPECT_EQ(timeline.host.measure_ns(), 164u);
  ASSERT_EQ(timeline.host_segments.size(), 3u);
  EXPECT_EQ(timeline.host_segments[0].end_ns - timeline.host_segments[0].begin_ns, 100u);
  EXPECT_EQ(timeline.host_segments[1].begin_ns, testing::origin_ns + 200);
  EXPECT_EQ(timeline.host_segments[1].end_ns, testing::origin_ns + 260);
}

TEST(Timeline, non_blocking_operations_are_in_flight_and_blocking_ones_are_not) {
  const Timeline timeline = timeline_of(RecordingBuilder(0, 2)
                                            .half({.direction = trace::Direction::send,
                                                   .peer = 1,
                                                   .post = 100,
                                                   .complete = 400,
                                                   .blocking = false})
                                            .half({.direction = trace::Direction::receive,
                                                   .peer = 1,
                                                   .post = 300,
                                                   .complete = 500,
                                                   .blocking = false})
                                            .half({.direction = trace::Direction::receive,
                                                   .peer = 1,
                                                   .post = 600,
                                                   .complete = 700,
                                                   .blocking = true}));
  EXPECT_EQ(timeline.in_flight.measure_ns(), 400u);
  EXPECT_EQ(timeline.communication.measure_ns(), 400u);
  EXPECT_EQ(timeline.host.measure_ns(), 0u);
}

TEST(Timeline, exposed_is_host_in_mpi_without_kernels) {
  const Timeline timeline = timeline_of(RecordingBuilder(0, 1)
                                            .call({.function = "MPI_Recv", .begin = 100, .end = 300})
                                            .kernel(50, 150)
                                            .kernel(200, 220));
  EXPECT_EQ(timeline.exposed.measure_ns(), 130u);
}

TEST(Timeline, everything_is_clipped_to_the_run) {
  const Timeline timeline = timeline_of(RecordingBuilder(0, 1)
                                            .runs(100, 200)
                                            .call({.function = "MPI_Recv", .begin = 50, .end = 120})
                                            .call({.function = "MPI_Recv", .begin = 190, .end = 500})
                                            .kernel(0, 1000));
  EXPECT_EQ(timeline.host.measure_ns(), 30u);
  EXPECT_EQ(timeline.kernels.measure_ns(), 100u);
}

}  // namespace
}  // namespace penstock::analysis
