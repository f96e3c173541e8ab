// Kernels beside waits, collectives, late ranks and staging by hand, in recordings whose figures can be added
// up by hand. Times are ns.
#include <gtest/gtest.h>

#include <tuple>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::to_device;
using testing::to_host;
using testing::whole_report_on;
using trace::Direction;

TEST(KernelsBesideWaits, tell_what_they_hide_and_what_is_exposed_when_they_have_ended) {
  // a wait from 150 to 400: bulk hides it until 200, then nothing runs until edge, from 300 to 350
  const Report report =
      whole_report_on({RecordingBuilder(0, 1)
                           .kernel(100, 200, "_Z4bulkv")
                           .kernel(300, 350, "_Z4edgev")
                           .call({.function = "MPI_Waitall", .begin = 150, .end = 400, .call_site = 0x40})});
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].name, "bulk");
  EXPECT_EQ(report.kernels[0].launches, 1u);
  EXPECT_EQ(report.kernels[0].running_ns, 100u);
  EXPECT_EQ(report.kernels[0].hides_ns, 50u);
  EXPECT_EQ(report.kernels[0].exposed_after_ns, 100u);
  EXPECT_EQ(report.kernels[0].exposed_at, "0x40");
  EXPECT_EQ(report.kernels[1].name, "edge");
  EXPECT_EQ(report.kernels[1].hides_ns, 50u);
  EXPECT_EQ(report.kernels[1].exposed_after_ns, 50u);
}

TEST(KernelsBesideWaits, hide_operations_in_flight_while_the_host_is_elsewhere) {
  const Report report = whole_report_on({RecordingBuilder(0, 1).kernel(100, 200).half(
      {.direction = Direction::receive, .peer = 0, .post = 150, .complete = 300, .blocking = false})});
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].hides_ns, 50u);
  EXPECT_EQ(report.kernels[0].exposed_after_ns, 0u);  // nobody waits in MPI
}

TEST(KernelsBesideWaits, count_each_kernel_once_also_where_others_hide_it_or_cut_it_in_two) {
  const Report report = whole_report_on({RecordingBuilder(0, 1)
                                             .kernel(100, 300, "long")
                                             .kernel(120, 150, "short")
                                             .kernel(200, 250, "short")
                                             .kernel(290, 400, "short")
                                             .call({.function = "MPI_Recv", .begin = 0, .end = 500})});
  ASSERT_EQ(report.kernels.size(), 2u);
  const auto [first, second] = std::tie(report.kernels[0], report.kernels[1]);
  EXPECT_EQ(first.name, "short");
  EXPECT_EQ(first.launches, 3u);
  EXPECT_EQ(first.running_ns, 100u);  // the rest is counted for the one that began first
  EXPECT_EQ(second.name, "long");
  EXPECT_EQ(second.launches, 1u);
}

TEST(KernelsBesideWaits, share_time_without_counting_it_twice) {
  const Report report = whole_report_on({RecordingBuilder(0, 1)
                                             .kernel(100, 200, "first")
                                             .kernel(150, 260, "second")
                                             .call({.function = "MPI_Recv", .begin = 0, .end = 300})});
  std::uint64_t running_ns = 0;
  std::uint64_t hides_ns = 0;
  for (const KernelFigures& kernel : report.kernels) {
    running_ns += kernel.running_ns;
    hides_ns += kernel.hides_ns;
  }
  EXPECT_EQ(running_ns, report.ranks[0].kernels_ns);
  EXPECT_EQ(hides_ns, report.ranks[0].hidden_ns);
}

/// Both ranks reduce 4,096 bytes; rank 1 comes 300 later, for its kernel runs until then.
std::vector<RecordingBuilder> late_reduction() {
  return {RecordingBuilder(0, 2)
              .kernel(0, 100)
              .call({.function = "MPI_Allreduce",
                     .begin = 100,
                     .end = 464,
                     .bytes = 4096,
                     .call_site = 0x10,
                     .collective_ordinal = 1})
              .transfer({.begin = 410, .end = 460, .bytes = 4096, .key = 9, .reason = "peer access"}),
          RecordingBuilder(1, 2)
              .kernel(0, 150, "_Z5setupv")
              .call({.function = "MPI_Send", .begin = 150, .end = 170, .bytes = 8})
              .kernel(180, 390, "_Z4slowv")
              .call({.function = "MPI_Allreduce",
                     .begin = 400,
                     .end = 464,
                     .bytes = 4096,
                     .call_site = 0x10,
                     .collective_ordinal = 1})};
}

TEST(Collectives, waiting_is_told_from_moving) {
  const Report report = whole_report_on(late_reduction());
  ASSERT_EQ(report.collectives.size(), 2u);  // rank 1 moved nothing itself
  const CollectiveFigures& first = report.collectives[0];
  EXPECT_EQ(first.mpi_function, "MPI_Allreduce");
  EXPECT_EQ(first.size_limit_bytes, 64u * 1024);
  EXPECT_EQ(first.transport, trace::TransportKind::peer);
  EXPECT_EQ(first.reason, "peer access");
  EXPECT_EQ(first.calls, 1u);
  EXPECT_EQ(first.waiting_ns, 300u);
  EXPECT_EQ(first.moving_ns, 64u);
  EXPECT_DOUBLE_EQ(first.median_gbps.value_or(0), 64.0);
  EXPECT_EQ(report.collectives[1].waiting_ns, 0u);
}

TEST(Collectives, the_rank_that_came_last_is_named_with_what_it_did) {
  const Report report = whole_report_on(late_reduction());
  ASSERT_EQ(report.late_ranks.size(), 1u);
  const LateRankFigures& late = report.late_ranks[0];
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.mpi_function, "MPI_Allreduce");
  EXPECT_EQ(late.at, "0x10");
  EXPECT_EQ(late.times, 1u);
  EXPECT_EQ(late.late_ns, 300u);
  EXPECT_EQ(late.in_kernels_ns, 50u + 210);
  EXPECT_EQ(late.in_mpi_ns, 20u);
  EXPECT_EQ(late.main_kernel, "slow");
}

TEST(Collectives, a_non_blocking_one_is_told_by_what_was_left_of_it_in_the_call_that_completes_it) {
  const auto rank = [](std::int32_t which, std::uint64_t posts, std::uint64_t waits, std::uint64_t ends) {
    return RecordingBuilder(which, 2)
        .kernel(0, 10)
        .call({.function = "MPI_Iallreduce",
               .begin = posts,
               .end = posts + 5,
               .bytes = 4096,
               .call_site = 0x10,
               .collective_ordinal = 1,
               .waits = 0})
        .call({.function = "MPI_Wait", .begin = waits, .end = ends})
        .operation({.function = "MPI_Iallreduce",
                    .post = posts,
                    .complete = ends,
                    .collective_ordinal = 1,
                    .bytes = 4096,
                    .call_site = 0x10});
  };
  const Report report = whole_report_on({rank(0, 100, 200, 428), rank(1, 300, 400, 428)});
  ASSERT_EQ(report.collectives.size(), 1u);
  const CollectiveFigures& sums = report.collectives[0];
  EXPECT_EQ(sums.mpi_function, "MPI_Iallreduce");
  EXPECT_EQ(sums.calls, 2u);
  EXPECT_EQ(sums.waiting_ns, 100u);
  EXPECT_EQ(sums.moving_ns, 128u + 28);
  EXPECT_DOUBLE_EQ(sums.median_gbps.value_or(0), 32.0);  // 4,096 bytes from 300 on, when both had come
  ASSERT_EQ(report.late_ranks.size(), 1u);
  EXPECT_EQ(report.late_ranks[0].rank, 1);
  EXPECT_EQ(report.late_ranks[0].late_ns, 200u);
  EXPECT_EQ(report.ranks[0].in_flight_ns, 328u);
  EXPECT_EQ(report.by_cause[static_cast<std::size_t>(Cause::unattributed)], 0u);
}

TEST(Collectives, where_data_flows_from_a_root_the_root_is_late_and_not_the_last) {
  const auto bcast = [](std::int32_t rank, std::uint64_t begin) {
    return RecordingBuilder(rank, 3).kernel(0, 1).call({.function = "MPI_Bcast",
                                                        .begin = begin,
                                                        .end = 600,
                                                        .bytes = 64,
                                                        .peer = 0,
                                                        .collective_ordinal = 1});
  };
  const Report report = whole_report_on({bcast(0, 300), bcast(1, 100), bcast(2, 500)});
  ASSERT_EQ(report.late_ranks.size(), 1u);
  EXPECT_EQ(report.late_ranks[0].rank, 0);
  EXPECT_EQ(report.late_ranks[0].late_ns, 200u);
}

/// Copies 4,096 bytes to the host, sends them, receives as many and copies them back; `steps` times.
RecordingBuilder stages_by_hand(std::uint64_t steps, std::uint64_t copied_bytes = 4096) {
  RecordingBuilder rank(0, 2);
  rank.kernel(0, 1);
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t begin = 1000 + step * 1000;
    rank.copy(begin, begin + 100, copied_bytes, to_host)
        .call({.function = "MPI_Send",
               .begin = begin + 110,
               .end = begin + 150,
               .bytes = 4096,
               .call_site = 0x10})
        .half({.direction = Direction::send,
               .peer = 1,
               .post = begin + 110,
               .complete = begin + 150,
               .bytes = 4096})
        .call({.function = "MPI_Recv",
               .begin = begin + 150,
               .end = begin + 200,
               .bytes = 4096,
               .call_site = 0x20})
        .half({.direction = Direction::receive,
               .peer = 1,
               .post = begin + 150,
               .complete = begin + 200,
               .bytes = 4096})
        .copy(begin + 210, begin + 260, copied_bytes, to_device);
  }
  return rank.runs(0, 1000 + steps * 1000);
}

TEST(StagingByHand, is_found_on_both_sides_and_priced) {
  RecordingBuilder rank = stages_by_hand(3);
  rank.kernel(1050, 1100);
  const Report report = whole_report_on({rank});
  ASSERT_EQ(report.hand_staging.size(), 2u);
  // the half's call site is 0 in these recordings; the function is that of the call in which it was posted
  EXPECT_EQ(report.hand_staging[0].at, "MPI_Send at unknown source line");
  EXPECT_EQ(report.hand_staging[0].messages, 3u);
  EXPECT_EQ(report.hand_staging[0].bytes, 3u * 4096);
  EXPECT_EQ(report.hand_staging[0].copies_ns, 300u);
  EXPECT_EQ(report.hand_staging[0].exposed_copies_ns, 250u);
  EXPECT_EQ(report.hand_staging[1].at, "MPI_Recv at unknown source line");
  EXPECT_EQ(report.hand_staging[1].copies_ns, 150u);
}

TEST(StagingByHand, is_not_seen_in_copies_of_other_sizes_or_in_a_single_one) {
  EXPECT_TRUE(whole_report_on({stages_by_hand(3, 4104)}).hand_staging.empty());
  EXPECT_TRUE(whole_report_on({stages_by_hand(1)}).hand_staging.empty());
}

TEST(StagingByHand, is_not_seen_where_most_messages_have_no_copy) {
  RecordingBuilder rank = stages_by_hand(2);
  for (std::uint64_t i = 0; i < 5; ++i) {
    rank.half({.direction = Direction::send, .peer = 1, .post = 200 + i, .complete = 210 + i, .bytes = 512})
        .half(
            {.direction = Direction::receive, .peer = 1, .post = 200 + i, .complete = 210 + i, .bytes = 512});
  }
  // all lie outside of calls, so that their sites are the same unknown one as no others'
  const Report report = whole_report_on({rank});
  EXPECT_EQ(report.hand_staging.size(), 2u);
  RecordingBuilder mixed = stages_by_hand(2);
  for (std::uint64_t i = 0; i < 5; ++i) {
    mixed
        .call({.function = "MPI_Send",
               .begin = 100 + i * 20,
               .end = 110 + i * 20,
               .bytes = 512,
               .call_site = 0x10})
        .half({.direction = Direction::send,
               .peer = 1,
               .post = 100 + i * 20,
               .complete = 110 + i * 20,
               .bytes = 512});
  }
  const Report sparse = whole_report_on({mixed});
  ASSERT_EQ(sparse.hand_staging.size(), 1u);
  EXPECT_EQ(sparse.hand_staging[0].at, "MPI_Recv at unknown source line");
}

TEST(StagingByHand, takes_each_copy_for_one_message_only) {
  RecordingBuilder rank = stages_by_hand(4);
  for (std::uint64_t step = 0; step < 3; ++step) {  // the same bytes are sent to others, too
    const std::uint64_t begin = 1000 + step * 1000;
    rank.call({.function = "MPI_Send",
               .begin = begin + 300,
               .end = begin + 310,
               .bytes = 4096,
               .call_site = 0x10})
        .half({.direction = Direction::send,
               .peer = 1,
               .post = begin + 300,
               .complete = begin + 310,
               .bytes = 4096});
  }
  const Report report = whole_report_on({rank});
  ASSERT_EQ(report.hand_staging.size(), 2u);
  EXPECT_EQ(report.hand_staging[0].messages, 4u);
  EXPECT_EQ(report.hand_staging[0].copies_ns, 400u);
}

TEST(StagingByHand, knows_no_copies_of_penstock_s_own) {
  RecordingBuilder rank(0, 2);
  for (std::uint64_t i = 0; i < 3; ++i) {
    trace::DeviceActivity copy{};
    copy.begin_ns = testing::origin_ns + 100 * i;
    copy.end_ns = copy.begin_ns + 10;
    copy.bytes = 4096;
    copy.copy_kind = to_host;
    copy.own = 1;
    copy.kind = trace::RecordKind::device_copy;
    rank.raw(copy).half({.direction = Direction::send,
                         .peer = 1,
                         .post = 100 * i + 20,
                         .complete = 100 * i + 30,
                         .bytes = 4096});
  }
  EXPECT_TRUE(whole_report_on({rank}).hand_staging.empty());
}

}  // namespace
}  // namespace penstock::analysis
