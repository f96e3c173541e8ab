// Why ranks waited, on recordings whose truth is written down beside them. Times are ns from the origin.
#include "analysis/causes/causes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using trace::Direction;

struct ExpectedSpan {
  std::uint64_t begin;
  std::uint64_t end;
  Cause cause;
  std::int32_t rank;
  friend bool operator==(const ExpectedSpan&, const ExpectedSpan&) = default;
};

void PrintTo(const ExpectedSpan& span, std::ostream* out) {
  *out << span.begin << "–" << span.end << " " << name_of(span.cause) << " of rank " << span.rank;
}

/// Two or more ranks, joined.
class JobInMemory {
 public:
  explicit JobInMemory(std::initializer_list<RecordingBuilder> builders) {
    for (const RecordingBuilder& each : builders) {
      ranks_.push_back(load_rank(each.write(directory_.path())));
      index_.add(ranks_.back());
    }
    index_.join();
  }
  [[nodiscard]] std::vector<ExpectedSpan> explain(std::size_t rank, std::uint32_t call) const {
    CauseFinder finder(ranks_[rank], rank, index_);
    std::vector<ExpectedSpan> spans;
    for (const CauseSpan& each : finder.explain(call)) {
      spans.push_back({each.begin_ns - testing::origin_ns, each.end_ns - testing::origin_ns, each.cause,
                       each.counterpart.rank});
    }
    return spans;
  }
  [[nodiscard]] const MessageIndex& index() const { return index_; }

 private:
  TemporaryDirectory directory_;
  std::vector<RankTrace> ranks_;
  MessageIndex index_;
};

using Spans = std::vector<ExpectedSpan>;

TEST(Causes, a_receive_before_its_send_waits_for_a_late_sender_then_for_the_wire) {
  const JobInMemory job{RecordingBuilder(0, 2)
                            .half({.direction = Direction::receive, .peer = 1, .post = 100, .complete = 340})
                            .call({.function = "MPI_Recv", .begin = 100, .end = 350}),
                        RecordingBuilder(1, 2)
                            .half({.direction = Direction::send, .peer = 0, .post = 300, .complete = 310})
                            .call({.function = "MPI_Send", .begin = 300, .end = 315, .bytes = 8})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 300, Cause::late_sender, 1}, {300, 350, Cause::wire, 1}}));
  EXPECT_EQ(job.explain(1, 0), (Spans{{300, 315, Cause::wire, 0}}));
}

TEST(Causes, a_send_that_needed_its_receiver_waits_for_a_late_receiver) {
  const JobInMemory job{RecordingBuilder(0, 2)
                            .half({.direction = Direction::send, .peer = 1, .post = 100, .complete = 440})
                            .call({.function = "MPI_Ssend", .begin = 100, .end = 450, .bytes = 8}),
                        RecordingBuilder(1, 2)
                            .half({.direction = Direction::receive, .peer = 0, .post = 400, .complete = 430})
                            .call({.function = "MPI_Recv", .begin = 400, .end = 431})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 400, Cause::late_receiver, 1}, {400, 450, Cause::wire, 1}}));
}

TEST(Causes, a_buffered_send_does_not_wait_for_a_receiver_that_comes_later) {
  const JobInMemory job{RecordingBuilder(0, 2)
                            .half({.direction = Direction::send, .peer = 1, .post = 100, .complete = 110})
                            .call({.function = "MPI_Send", .begin = 100, .end = 112, .bytes = 8}),
                        RecordingBuilder(1, 2)
                            .half({.direction = Direction::receive, .peer = 0, .post = 400, .complete = 430})
                            .call({.function = "MPI_Recv", .begin = 400, .end = 431})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 112, Cause::wire, 1}}));
}

TEST(Causes, waitall_waits_for_the_last_sender) {
  const JobInMemory job{
      RecordingBuilder(0, 3)
          .half({.direction = Direction::receive, .peer = 1, .post = 50, .complete = 260, .blocking = false})
          .half({.direction = Direction::receive, .peer = 2, .post = 60, .complete = 420, .blocking = false})
          .call({.function = "MPI_Waitall", .begin = 200, .end = 425}),
      RecordingBuilder(1, 3).half({.direction = Direction::send, .peer = 0, .post = 250, .complete = 255}),
      RecordingBuilder(2, 3).half({.direction = Direction::send, .peer = 0, .post = 400, .complete = 405})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{200, 400, Cause::late_sender, 2}, {400, 425, Cause::wire, 2}}));
}

TEST(Causes, equal_messages_are_joined_in_the_order_of_their_posts) {
  const JobInMemory job{
      RecordingBuilder(0, 2)
          .half({.direction = Direction::receive,
                 .peer = 1,
                 .post = 500,
                 .complete = 640})  // recorded out of order
          .call({.function = "MPI_Recv", .begin = 500, .end = 640})
          .on_lane(1)
          .half({.direction = Direction::receive, .peer = 1, .post = 100, .complete = 240})
          .call({.function = "MPI_Recv", .begin = 100, .end = 240}),
      RecordingBuilder(1, 2)
          .half({.direction = Direction::send, .peer = 0, .post = 200, .complete = 201})
          .half({.direction = Direction::send, .peer = 0, .post = 210, .complete = 211, .tag = 9})
          .half({.direction = Direction::send, .peer = 0, .post = 600, .complete = 601})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{500, 600, Cause::late_sender, 1}, {600, 640, Cause::wire, 1}}));
  EXPECT_EQ(job.explain(0, 1), (Spans{{100, 200, Cause::late_sender, 1}, {200, 240, Cause::wire, 1}}));
  EXPECT_EQ(job.index().unmatched_halves(), 1u);  // the one of tag 9
}

TEST(Causes, a_transfer_is_waiting_for_the_gpu_then_packing_then_wire) {
  constexpr std::uint64_t key = (1ull << 40) | 7;
  const JobInMemory job{
      RecordingBuilder(0, 2).half(
          {.direction = Direction::send, .peer = 1, .post = 50, .complete = 60, .key = key}),
      RecordingBuilder(1, 2)
          .half({.direction = Direction::receive, .peer = 0, .post = 100, .complete = 300, .key = key})
          .transfer({.begin = 110, .end = 290, .bytes = 4096, .key = key, .wait = 40, .pack = 30})
          .call({.function = "MPI_Recv", .begin = 100, .end = 300, .bytes = 4096})};
  EXPECT_EQ(job.explain(1, 0), (Spans{{100, 110, Cause::wire, 0},
                                      {110, 150, Cause::gpu_not_ready, 0},
                                      {150, 180, Cause::staging, 0},
                                      {180, 290, Cause::wire, 0},
                                      {290, 300, Cause::wire, 0}}));
}

TEST(Causes, a_staged_transfer_is_staging) {
  const JobInMemory job{
      RecordingBuilder(0, 2).half(
          {.direction = Direction::send, .peer = 1, .post = 50, .complete = 60, .key = 5}),
      RecordingBuilder(1, 2)
          .half({.direction = Direction::receive, .peer = 0, .post = 100, .complete = 300, .key = 5})
          .transfer({.begin = 100,
                     .end = 300,
                     .bytes = 4096,
                     .key = 5,
                     .transport = trace::TransportKind::staged,
                     .wait = 40})
          .call({.function = "MPI_Recv", .begin = 100, .end = 300, .bytes = 4096})};
  EXPECT_EQ(job.explain(1, 0), (Spans{{100, 140, Cause::staging, 0}, {140, 300, Cause::staging, 0}}));
}

TEST(Causes, a_relayed_transfer_waits_for_staging_and_then_for_the_wire) {
  const JobInMemory job{
      RecordingBuilder(0, 2).half(
          {.direction = Direction::send, .peer = 1, .post = 50, .complete = 60, .key = 5}),
      RecordingBuilder(1, 2)
          .half({.direction = Direction::receive, .peer = 0, .post = 100, .complete = 300, .key = 5})
          .transfer({.begin = 100,
                     .end = 300,
                     .bytes = 4096,
                     .key = 5,
                     .transport = trace::TransportKind::relayed,
                     .wait = 40})
          .call({.function = "MPI_Recv", .begin = 100, .end = 300, .bytes = 4096})};
  EXPECT_EQ(job.explain(1, 0), (Spans{{100, 140, Cause::staging, 0}, {140, 300, Cause::wire, 0}}));
}

TEST(Causes, a_sender_waits_for_a_receiver_that_posted_and_then_stayed_out_of_mpi) {
  constexpr std::uint64_t key = 9;
  const JobInMemory job{
      RecordingBuilder(0, 2)
          .half({.direction = Direction::send, .peer = 1, .post = 100, .complete = 560, .key = key})
          .call({.function = "MPI_Ssend", .begin = 100, .end = 560, .bytes = 8}),
      RecordingBuilder(1, 2)
          .half({.direction = Direction::receive,
                 .peer = 0,
                 .post = 200,
                 .complete = 555,
                 .key = key,
                 .blocking = false,
                 .matched = 505})
          .call({.function = "MPI_Wait", .begin = 500, .end = 556})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 200, Cause::late_receiver, 1},
                                      {200, 500, Cause::missing_progress, 1},
                                      {500, 560, Cause::wire, 1}}));
}

TEST(Causes, a_collective_waits_for_the_last_to_arrive) {
  const auto rank = [](std::int32_t which, std::uint64_t begin) {
    return RecordingBuilder(which, 3).call(
        {.function = "MPI_Allreduce", .begin = begin, .end = 500, .bytes = 8, .collective_ordinal = 1});
  };
  const JobInMemory job{rank(0, 100), rank(1, 450), rank(2, 300)};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 450, Cause::collective_wait, 1}, {450, 500, Cause::wire, -1}}));
  EXPECT_EQ(job.explain(2, 0), (Spans{{300, 450, Cause::collective_wait, 1}, {450, 500, Cause::wire, -1}}));
  EXPECT_EQ(job.explain(1, 0), (Spans{{450, 500, Cause::wire, -1}}));
}

TEST(Causes, a_broadcast_waits_for_its_root_only) {
  const auto rank = [](std::int32_t which, std::uint64_t begin, std::uint64_t end) {
    return RecordingBuilder(which, 3).call({.function = "MPI_Bcast",
                                            .begin = begin,
                                            .end = end,
                                            .bytes = 8,
                                            .peer = 2,
                                            .collective_ordinal = 1});
  };
  const JobInMemory job{rank(0, 100, 320), rank(1, 600, 610), rank(2, 300, 310)};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 300, Cause::collective_wait, 2}, {300, 320, Cause::wire, -1}}));
  EXPECT_EQ(job.explain(2, 0), (Spans{{300, 310, Cause::wire, -1}}));  // the root did not wait for rank 1
}

TEST(Causes, a_collective_that_a_rank_was_not_seen_at_is_not_explained_past_the_last_arrival) {
  const auto rank = [](std::int32_t which, std::uint64_t begin) {
    return RecordingBuilder(which, 3).call(
        {.function = "MPI_Barrier", .begin = begin, .end = 500, .collective_ordinal = 1});
  };
  const JobInMemory job{rank(0, 100), rank(1, 200)};  // rank 2 left no recording
  EXPECT_EQ(job.explain(0, 0),
            (Spans{{100, 200, Cause::collective_wait, 1}, {200, 500, Cause::unattributed, -1}}));
}

/// MPI_Iallreduce at `posts`, waited for from `waits` on until it is complete.
RecordingBuilder nonblocking_reduction(std::int32_t rank, std::uint64_t posts, std::uint64_t waits,
                                       std::uint64_t complete) {
  return RecordingBuilder(rank, 3)
      .call({.function = "MPI_Iallreduce",
             .begin = posts,
             .end = posts + 5,
             .bytes = 8,
             .collective_ordinal = 1,
             .waits = 0})
      .call({.function = "MPI_Wait", .begin = waits, .end = complete})
      .operation(
          {.function = "MPI_Iallreduce", .post = posts, .complete = complete, .collective_ordinal = 1});
}

TEST(Causes, a_wait_for_a_non_blocking_collective_waits_for_the_last_to_start_it) {
  const JobInMemory job{nonblocking_reduction(0, 100, 200, 500), nonblocking_reduction(1, 450, 460, 510),
                        nonblocking_reduction(2, 300, 310, 505)};
  EXPECT_EQ(job.explain(0, 1), (Spans{{200, 450, Cause::collective_wait, 1}, {450, 500, Cause::wire, -1}}));
  EXPECT_EQ(job.explain(1, 1), (Spans{{460, 510, Cause::wire, -1}}));
}

TEST(Causes, a_wait_for_a_non_blocking_collective_that_some_rank_was_not_seen_at_is_unattributed) {
  const JobInMemory job{nonblocking_reduction(0, 100, 200, 500), nonblocking_reduction(1, 150, 200, 500)};
  EXPECT_EQ(job.explain(0, 1), (Spans{{200, 500, Cause::unattributed, -1}}));
}

/// Two persistent ones, initialised long ago, the second with a root; each rank starts them in an order of
/// its own, and waits for each where it has been completed.
TEST(Causes, a_wait_for_a_persistent_collective_waits_for_the_last_to_start_it_as_often) {
  struct Start {
    std::uint64_t reduction;
    std::uint64_t broadcast;
  };
  const auto rank = [](std::int32_t which, const Start& first, const Start& second) {
    RecordingBuilder builder(which, 2);
    builder
        .call({.function = "MPI_Allreduce_init", .begin = 1, .end = 5, .bytes = 8, .collective_ordinal = 1})
        .call({.function = "MPI_Bcast_init",
               .begin = 6,
               .end = 9,
               .bytes = 8,
               .peer = 1,
               .collective_ordinal = 2});
    std::uint64_t begin = 1000;
    std::uint32_t number = 0;
    for (const Start& start : {first, second}) {
      ++number;
      builder.call({.function = "MPI_Wait", .begin = begin, .end = begin + 300})
          .operation({.function = "MPI_Allreduce_init",
                      .post = start.reduction,
                      .complete = begin + 300,
                      .collective_ordinal = 1,
                      .start = number})
          .call({.function = "MPI_Wait", .begin = begin + 400, .end = begin + 700})
          .operation({.function = "MPI_Bcast_init",
                      .post = start.broadcast,
                      .complete = begin + 700,
                      .collective_ordinal = 2,
                      .root = 1,
                      .start = number});
      begin += 1000;
    }
    return builder;
  };
  const JobInMemory job{rank(0, {900, 950}, {1900, 1950}), rank(1, {1200, 1500}, {1800, 1700})};
  const auto rest = [](std::uint64_t begin, std::uint64_t end) {
    return ExpectedSpan{begin, end, Cause::wire, -1};
  };
  EXPECT_EQ(job.explain(0, 2), (Spans{{1000, 1200, Cause::collective_wait, 1}, rest(1200, 1300)}));
  EXPECT_EQ(job.explain(0, 3), (Spans{{1400, 1500, Cause::collective_wait, 1}, rest(1500, 1700)}));
  EXPECT_EQ(job.explain(0, 4), (Spans{rest(2000, 2300)}));
  EXPECT_EQ(job.explain(1, 4), (Spans{rest(2000, 2300)}));
  EXPECT_EQ(job.explain(0, 5), (Spans{rest(2400, 2700)}));
}

TEST(Causes, a_wait_for_a_non_blocking_broadcast_waits_for_its_root_only) {
  const auto rank = [](std::int32_t which, std::uint64_t posts, std::uint64_t complete) {
    return RecordingBuilder(which, 2)
        .call({.function = "MPI_Ibcast",
               .begin = posts,
               .end = posts + 5,
               .bytes = 8,
               .peer = 0,
               .collective_ordinal = 1,
               .waits = 0})
        .call({.function = "MPI_Wait", .begin = posts + 10, .end = complete})
        .operation({.function = "MPI_Ibcast",
                    .post = posts,
                    .complete = complete,
                    .collective_ordinal = 1,
                    .root = 0});
  };
  const JobInMemory job{rank(0, 300, 350), rank(1, 100, 400)};
  EXPECT_EQ(job.explain(1, 1), (Spans{{110, 300, Cause::collective_wait, 0}, {300, 400, Cause::wire, -1}}));
  EXPECT_EQ(job.explain(0, 1), (Spans{{310, 350, Cause::wire, -1}}));
}

TEST(Causes, of_messages_and_a_collective_that_complete_together_the_last_to_come_is_to_blame) {
  const auto rank = [](std::int32_t which, std::uint64_t posts, std::uint64_t sends) {
    return RecordingBuilder(which, 2)
        .call({.function = "MPI_Iallreduce",
               .begin = posts,
               .end = posts + 5,
               .bytes = 8,
               .collective_ordinal = 1,
               .waits = 0})
        .call({.function = "MPI_Waitall", .begin = 250, .end = 500})
        .half({.direction = which == 0 ? Direction::receive : Direction::send,
               .peer = 1 - which,
               .post = sends,
               .complete = 500,
               .blocking = false,
               .matched = 500})
        .operation({.function = "MPI_Iallreduce", .post = posts, .complete = 500, .collective_ordinal = 1});
  };
  const JobInMemory late_collective{rank(0, 100, 110), rank(1, 400, 300)};
  EXPECT_EQ(late_collective.explain(0, 1).front(), (ExpectedSpan{250, 400, Cause::collective_wait, 1}));
  const JobInMemory late_message{rank(0, 100, 110), rank(1, 200, 450)};
  EXPECT_EQ(late_message.explain(0, 1).front(), (ExpectedSpan{250, 450, Cause::late_sender, 1}));
}

TEST(Causes, staging_inside_a_collective_is_told_apart) {
  const auto rank = [](std::int32_t which, std::uint64_t begin) {
    return RecordingBuilder(which, 2)
        .transfer({.begin = 250, .end = 300, .bytes = 64, .transport = trace::TransportKind::staged})
        .call(
            {.function = "MPI_Allreduce", .begin = begin, .end = 400, .bytes = 64, .collective_ordinal = 1});
  };
  const JobInMemory job{rank(0, 100), rank(1, 200)};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 200, Cause::collective_wait, 1},
                                      {200, 250, Cause::wire, -1},
                                      {250, 300, Cause::staging, -1},
                                      {300, 400, Cause::wire, -1}}));
}

TEST(Causes, a_call_that_waits_at_a_window_waits_for_the_member_that_was_missing) {
  const JobInMemory job{
      RecordingBuilder(0, 2).call({.function = "MPI_Win_start", .begin = 100, .end = 200, .peer = 1})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 200, Cause::window_wait, 1}}));
}

TEST(Causes, what_cannot_be_told_is_unattributed) {
  const JobInMemory job{RecordingBuilder(0, 2)
                            .half({.direction = Direction::receive, .peer = 1, .post = 100, .complete = 200})
                            .call({.function = "MPI_Recv", .begin = 100, .end = 200})
                            .call({.function = "MPI_Win_fence", .begin = 300, .end = 400})
                            .call({.function = "MPI_Win_wait", .begin = 500, .end = 600, .communicator = 0})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 200, Cause::unattributed, 1}}));
  EXPECT_EQ(job.explain(0, 1), (Spans{{300, 400, Cause::unattributed, -1}}));
  EXPECT_EQ(job.explain(0, 2), (Spans{{500, 600, Cause::unattributed, -1}}));  // of the library's window
}

TEST(Causes, clocks_of_two_hosts_are_not_compared) {
  RecordingBuilder elsewhere(1, 2);
  elsewhere.half({.direction = Direction::send, .peer = 0, .post = 150, .complete = 151});
  std::snprintf(elsewhere.header().host_name, sizeof elsewhere.header().host_name, "node02");
  const JobInMemory job{RecordingBuilder(0, 2)
                            .half({.direction = Direction::receive, .peer = 1, .post = 100, .complete = 200})
                            .call({.function = "MPI_Recv", .begin = 100, .end = 200}),
                        elsewhere};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 200, Cause::unattributed, 1}}));
}

TEST(Causes, a_blocking_receive_is_not_blamed_for_older_messages_that_complete_in_it) {
  const JobInMemory job{
      RecordingBuilder(0, 3)
          .half({.direction = Direction::receive, .peer = 2, .post = 50, .complete = 190, .blocking = false})
          .half({.direction = Direction::receive, .peer = 1, .post = 100, .complete = 200})
          .call({.function = "MPI_Recv", .begin = 100, .end = 200}),
      RecordingBuilder(1, 3).half({.direction = Direction::send, .peer = 0, .post = 120, .complete = 121}),
      RecordingBuilder(2, 3).half({.direction = Direction::send, .peer = 0, .post = 180, .complete = 181})};
  EXPECT_EQ(job.explain(0, 0), (Spans{{100, 120, Cause::late_sender, 1}, {120, 200, Cause::wire, 1}}));
}

}  // namespace
}  // namespace penstock::analysis
