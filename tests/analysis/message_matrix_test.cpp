// Messages by sender and receiver, in recordings whose figures can be added up by hand. Times are ns, so that
// bytes by time are GB/s.
#include "analysis/figures/message_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using testing::whole_report_on;
using trace::Direction;

/// Rank 1 sends 4,000 bytes twice, which are pulled within 100 and 400, once the GPU is ready; rank 0 answers
/// with 8 bytes of host memory.
std::vector<RecordingBuilder> two_ways() {
  RecordingBuilder receiver(0, 2);
  RecordingBuilder sender(1, 2);
  for (const std::uint64_t i : {0u, 1u}) {
    const std::uint64_t begin = 1000 * i;
    const std::uint64_t took = i == 0 ? 100 : 400;
    const std::uint64_t key = i + 1;
    receiver
        .half({.direction = Direction::receive,
               .peer = 1,
               .post = begin + 10,
               .complete = begin + 500,
               .bytes = 4000,
               .key = key,
               .buffer = trace::BufferKind::device})
        .transfer({.begin = begin + 20, .end = begin + 50 + took, .bytes = 4000, .key = key, .wait = 30})
        .call({.function = "MPI_Recv", .begin = begin + 10, .end = begin + 500, .bytes = 4000});
    sender.half({.direction = Direction::send,
                 .peer = 0,
                 .post = begin + 5,
                 .complete = begin + 500,
                 .bytes = 4000,
                 .key = key,
                 .buffer = trace::BufferKind::device});
  }
  sender.half(
      {.direction = Direction::receive, .peer = 0, .post = 2000, .complete = 2016, .bytes = 8, .key = 3});
  receiver.half(
      {.direction = Direction::send, .peer = 1, .post = 2008, .complete = 2010, .bytes = 8, .key = 3});
  return {receiver.runs(0, 3000), sender.runs(0, 3000)};
}

TEST(MessageMatrix, tells_how_much_went_from_whom_to_whom_by_what_and_how_fast) {
  const Report report = whole_report_on(two_ways());
  ASSERT_TRUE(report.matrix);
  EXPECT_EQ(report.matrix->ranks_per_block, 1);
  EXPECT_TRUE(report.matrix->blocks.empty()) << "with a rank each they would be the pairs again";
  ASSERT_EQ(report.matrix->pairs.size(), 2u);
  const MatrixCell& large = report.matrix->pairs[0];
  EXPECT_EQ(large.sender, 1);
  EXPECT_EQ(large.receiver, 0);
  EXPECT_EQ(large.messages, 2u);
  EXPECT_EQ(large.bytes, 8000u);
  EXPECT_EQ(large.moving_ns, 500u) << "waiting for the GPU is no movement";
  EXPECT_DOUBLE_EQ(large.gbps.value_or(0), 16);
  EXPECT_DOUBLE_EQ(large.possible_gbps.value_or(0), 40) << "as the first of them";
  EXPECT_EQ(large.transport, trace::TransportKind::peer);
  const MatrixCell& small = report.matrix->pairs[1];
  EXPECT_EQ(small.sender, 0);
  EXPECT_EQ(small.receiver, 1);
  EXPECT_EQ(small.messages, 1u);
  EXPECT_EQ(small.bytes, 8u);
  EXPECT_EQ(small.moving_ns, 8u) << "from when both had posted";
  EXPECT_EQ(small.transport, trace::TransportKind::mpi);
}

TEST(MessageMatrix, a_message_whose_receiver_was_not_recorded_is_told_by_its_sender) {
  std::vector<RecordingBuilder> ranks = two_ways();
  const Report report = whole_report_on({ranks[1]});
  ASSERT_TRUE(report.matrix);
  ASSERT_EQ(report.matrix->pairs.size(), 2u);
  EXPECT_EQ(report.matrix->pairs[0].sender, 1);
  EXPECT_EQ(report.matrix->pairs[0].messages, 2u);
  EXPECT_EQ(report.matrix->pairs[0].bytes, 8000u);
  EXPECT_EQ(report.matrix->pairs[0].moving_ns, 0u);
  EXPECT_FALSE(report.matrix->pairs[0].gbps) << "not known is not zero";
}

TEST(MessageMatrix, a_job_without_messages_has_none) {
  EXPECT_FALSE(whole_report_on({RecordingBuilder(0, 1).runs(0, 100)}).matrix);
}

TEST(MessageMatrix, counts_the_steps_alone) {
  RecordingBuilder rank(0, 1);
  const auto to_itself = [&](std::uint64_t at, std::uint64_t key) {
    rank.half({.direction = Direction::receive, .peer = 0, .post = at, .complete = at + 10, .key = key})
        .half({.direction = Direction::send, .peer = 0, .post = at, .complete = at + 5, .key = key})
        .call({.function = "MPI_Sendrecv", .begin = at, .end = at + 10});
  };
  to_itself(100, 1);  // start-up
  for (std::uint64_t step = 0; step < 5; ++step) {
    rank.range("step", 1000 + step * 100, 1100 + step * 100);
    to_itself(1020 + step * 100, 2 + step);
  }
  const TemporaryDirectory directory;
  rank.runs(0, 2000).write(directory.path());
  const Report report = analyse(directory.path());
  ASSERT_TRUE(report.steps);
  ASSERT_TRUE(report.matrix);
  EXPECT_EQ(report.matrix->pairs[0].messages, 5u);
}

/// A ring: each rank receives 100 + its number bytes from the one before.
std::vector<RecordingBuilder> ring(std::int32_t ranks) {
  std::vector<RecordingBuilder> ring;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const auto bytes_to = [](std::int32_t to) { return static_cast<std::uint64_t>(100 + to); };
    const std::int32_t before = (rank + ranks - 1) % ranks;
    const std::int32_t behind = (rank + 1) % ranks;
    ring.push_back(RecordingBuilder(rank, ranks)
                       .half({.direction = Direction::receive,
                              .peer = before,
                              .post = 100,
                              .complete = 300,
                              .bytes = bytes_to(rank)})
                       .half({.direction = Direction::send,
                              .peer = behind,
                              .post = 200,
                              .complete = 300,
                              .bytes = bytes_to(behind)})
                       .runs(0, 1000));
  }
  return ring;
}

TEST(MessageMatrix, of_many_ranks_keeps_the_largest_pairs_and_all_of_them_in_blocks) {
  constexpr std::int32_t ranks = 130;
  constexpr std::size_t most_pairs = 10;
  const TemporaryDirectory directory;
  MessageIndex index;
  std::vector<RankTrace> loaded;
  for (const RecordingBuilder& each : ring(ranks)) {
    loaded.push_back(load_rank(each.write(directory.path())));
    index.add(loaded.back());
  }
  index.join();
  MessageMatrix matrix(index, most_pairs);
  const JobAxis axis(index);
  StringPool strings;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    RankWindow window;
    window.window = {loaded[i].begin_ns, loaded[i].end_ns};
    NameIds names(loaded[i].strings, strings);
    const IntervalSet nothing;
    const RankInput rank{loaded[i], window, names, axis.of(0), true, nothing, nothing, {}, {}};
    CallCursor calls(loaded[i]);
    for (std::size_t half = 0; half < loaded[i].halves.size(); ++half) {
      matrix.add(HalfInput{rank, loaded[i].halves[half], index.joined(loaded[i], i, half), calls});
    }
    matrix.add(rank);
  }
  const std::optional<MatrixFigures> figures = matrix.figures({});
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->ranks_per_block, 3);
  ASSERT_EQ(figures->pairs.size(), most_pairs);
  EXPECT_EQ(figures->dropped_pairs, ranks - most_pairs);
  for (std::size_t i = 0; i < most_pairs; ++i) {
    EXPECT_EQ(figures->pairs[i].receiver, ranks - 1 - static_cast<std::int32_t>(i));
    EXPECT_EQ(figures->pairs[i].bytes, 229 - i);
  }
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  for (const MatrixCell& each : figures->blocks) {
    EXPECT_LT(each.sender, most_matrix_blocks);
    bytes += each.bytes;
    messages += each.messages;
  }
  EXPECT_EQ(messages, 130u);
  EXPECT_EQ(bytes, 130u * 100 + 129 * 130 / 2);
  EXPECT_EQ(figures->blocks[0].sender, 0);
  EXPECT_EQ(figures->blocks[0].receiver, 0);
  EXPECT_EQ(figures->blocks[0].bytes, 101u + 102);
}

TEST(MessageMatrix, of_few_ranks_keeps_all_pairs_since_they_are_the_picture) {
  const Report report = whole_report_on(ring(64));
  ASSERT_TRUE(report.matrix);
  EXPECT_EQ(report.matrix->ranks_per_block, 1);
  EXPECT_EQ(report.matrix->pairs.size(), 64u);
}

}  // namespace
}  // namespace penstock::analysis
