// NCCL's calls, kernels and late ranks, from recordings whose truth is written down. Times are us from 0.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/conclusions/headline.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::NcclCallWords;
using testing::RecordingBuilder;
using testing::whole_report_on;

constexpr std::uint64_t us = 1000;
constexpr const char* all_reduce =
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr const char* send_receive = "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE";

/// A rank of a communicator of all, which launches from one thread.
RecordingBuilder rank_of(std::int32_t rank, std::int32_t size) {
  RecordingBuilder builder(rank, size);
  builder.runs(0, 10'000 * us).launches(100, 0);
  builder.nccl_call({.function = "ncclCommInitRank", .begin = 0, .end = 1 * us, .ranks = size, .rank = rank});
  return builder;
}

/// A call by itself, whose kernel is launched in the middle of its 10 us.
RecordingBuilder& call_alone(RecordingBuilder& builder, NcclCallWords words, std::uint64_t kernel_begin,
                             std::uint64_t kernel_end, const char* kernel = all_reduce) {
  words.end = words.begin + 10 * us;
  return builder.nccl_call(words).launched_kernel(words.begin + 5 * us, kernel_begin, kernel_end, kernel);
}

const NcclKindFigures& kind_in(const Report& report, const std::string& kind) {
  for (const NcclKindFigures& each : report.nccl.value().kinds) {
    if (each.kind == kind) {
      return each;
    }
  }
  throw std::runtime_error("no row of " + kind);
}

TEST(Nccl, of_a_program_that_does_not_use_it_there_is_nothing) {
  RecordingBuilder rank(0, 1);
  rank.runs(0, 100 * us).kernel(0, 50 * us);
  const Report report = whole_report_on({rank});
  EXPECT_FALSE(report.nccl);
  EXPECT_TRUE(nlohmann::json::parse(to_json(report))["nccl"].is_null());
  EXPECT_EQ(to_text(report, {}).find("NCCL"), std::string::npos);
}

/// Two ranks reduce 1 MB; rank 1's kernel begins 300 us after rank 0's, as it computed until then.
std::vector<RecordingBuilder> late_rank() {
  std::vector<RecordingBuilder> ranks{rank_of(0, 2), rank_of(1, 2)};
  const NcclCallWords words{
      .function = "ncclAllReduce", .begin = 50 * us, .end = 0, .bytes = 1'000'000, .ordinal = 1};
  call_alone(ranks[0], words, 100 * us, 500 * us);
  call_alone(ranks[1], words, 400 * us, 500 * us);
  ranks[1].kernel(100 * us, 390 * us, "stencil");
  ranks[0].kernel(450 * us, 700 * us, "stencil");
  return ranks;
}

TEST(Nccl, an_early_ranks_kernel_waits_until_the_late_ones_begins_and_moves_from_then_on) {
  const Report report = whole_report_on(late_rank());
  ASSERT_EQ(report.nccl.value().kinds.size(), 1u);
  const NcclKindFigures& row = kind_in(report, "AllReduce");
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.calls_without_bytes, 0u);
  EXPECT_EQ(row.bytes, 2'000'000u);
  EXPECT_EQ(row.kernels, 2u);
  EXPECT_EQ(row.joined_kernels, 2u);
  EXPECT_EQ(row.kernel_ns, 500 * us);
  EXPECT_EQ(row.exposed_ns, 450 * us) << "rank 0 computes in the last 50 us of its kernel";
  EXPECT_EQ(row.waiting_ns, 300 * us);
  EXPECT_EQ(row.exposed_waiting_ns, 300 * us);
  EXPECT_NEAR(row.median_gbps.value(), 10.0, 1e-6) << "2 (n - 1) / n of 1 MB in 100 us";
  ASSERT_EQ(report.nccl->late.size(), 1u);
  const NcclLateFigures& late = report.nccl->late[0];
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.kind, "AllReduce");
  EXPECT_EQ(late.times, 1u);
  EXPECT_EQ(late.late_ns, 300 * us);
  EXPECT_EQ(late.in_kernels_ns, 290 * us);
  EXPECT_EQ(late.main_kernel, "stencil");
  EXPECT_TRUE(unknowns_of(*report.nccl).empty());
}

TEST(Nccl, is_told_in_the_text_and_in_the_JSON) {
  const Report report = whole_report_on(late_rank());
  const std::string text = to_text(report, {});
  EXPECT_NE(text.find("AllReduce"), std::string::npos) << text;
  EXPECT_NE(text.find("96.7 % kernels, stencil"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(to_json(report))["nccl"];
  EXPECT_EQ(json["kinds"][0]["kind"], "AllReduce");
  EXPECT_DOUBLE_EQ(json["kinds"][0]["hidden_s"], 50e-6);
  EXPECT_DOUBLE_EQ(json["kinds"][0]["exposed_waiting_s"], 300e-6);
  EXPECT_EQ(json["late_ranks"][0]["rank"], 1);
  EXPECT_TRUE(json["unknown"].empty());
}

TEST(Nccl, is_in_the_first_sentence_with_who_is_waited_for_where_it_is_the_largest_part) {
  Report report = whole_report_on(late_rank());
  std::swap((*report.parts)[static_cast<std::size_t>(TimePart::nccl)],
            (*report.parts)[static_cast<std::size_t>(TimePart::host_code)]);
  EXPECT_NE(
      headline_of(report).text.find(
          "is NCCL: its kernels run, and no other. Of what they expose, 100.0 % is AllReduce; 66.7 % is "
          "waiting for ranks that come late, above all rank 1."),
      std::string::npos)
      << headline_of(report).text;
  report.nccl->late.clear();
  EXPECT_NE(headline_of(report).text.find("Of what they expose, 100.0 % is AllReduce."), std::string::npos)
      << headline_of(report).text;
}

TEST(Nccl, calls_are_joined_by_their_number_however_the_ranks_clocks_order_them) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 2), rank_of(1, 2)};
  for (std::uint32_t i = 1; i <= 5; ++i) {
    // rank 0 is one call ahead all the time
    const std::uint64_t at = i * 1000 * us;
    const NcclCallWords words{.function = "ncclAllReduce", .begin = at, .end = 0, .bytes = 8, .ordinal = i};
    call_alone(ranks[0], words, at + 10 * us, at + 1020 * us);
    call_alone(ranks[1], words, at + 1010 * us, at + 1020 * us);
  }
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(kind_in(report, "AllReduce").waiting_ns, 5 * 1000 * us);
  EXPECT_EQ(report.nccl->late.at(0).times, 5u);
}

TEST(Nccl, a_communicator_of_some_ranks_is_joined_among_these) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 3), rank_of(1, 3), rank_of(2, 3)};
  for (const std::size_t rank : {0u, 2u}) {
    ranks[rank].nccl_call({.function = "ncclCommSplit",
                           .begin = 10 * us,
                           .end = 20 * us,
                           .communicator = 0xd0,
                           .ranks = 3,  // those of the parent
                           .rank = static_cast<std::int32_t>(rank)});
    call_alone(ranks[rank],
               {.function = "ncclAllGather",
                .begin = 50 * us,
                .end = 0,
                .communicator = 0xd0,
                .bytes = 1000,
                .ordinal = 1},
               (100 + 50 * rank) * us, 300 * us);
  }
  const Report report = whole_report_on(ranks);
  const NcclKindFigures& row = kind_in(report, "AllGather");
  EXPECT_EQ(row.joined_kernels, 2u);
  EXPECT_EQ(row.waiting_ns, 100 * us);
  EXPECT_EQ(report.nccl->late.at(0).rank, 2);
}

TEST(Nccl, where_a_rank_has_no_recording_nobody_is_called_late) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 3), rank_of(1, 3)};
  const NcclCallWords words{
      .function = "ncclAllReduce", .begin = 50 * us, .end = 0, .bytes = 8, .ordinal = 1};
  call_alone(ranks[0], words, 100 * us, 500 * us);
  call_alone(ranks[1], words, 200 * us, 500 * us);
  const Report report = whole_report_on(ranks);
  const NcclKindFigures& row = kind_in(report, "AllReduce");
  EXPECT_EQ(row.kernels, 2u);
  EXPECT_EQ(row.joined_kernels, 0u);
  EXPECT_EQ(row.waiting_ns, 0u);
  EXPECT_FALSE(row.median_gbps);
  EXPECT_TRUE(report.nccl->late.empty());
  EXPECT_EQ(unknowns_of(*report.nccl).size(), 1u);
  EXPECT_TRUE(nlohmann::json::parse(to_json(report))["nccl"]["kinds"][0]["waiting_s"].is_null());
}

TEST(Nccl, a_process_with_several_GPUs_in_a_communicator_is_not_joined) {
  RecordingBuilder rank(0, 1);
  rank.runs(0, 1000 * us).launches(100, 0);
  rank.nccl_call({.function = "ncclCommInitAll", .begin = 0, .end = 1 * us, .ranks = 2});
  rank.nccl_call({.function = "ncclGroupStart", .begin = 10 * us, .end = 11 * us, .communicator = 0})
      .nccl_call({.function = "ncclAllReduce", .begin = 12 * us, .end = 13 * us, .bytes = 8, .ordinal = 1})
      .nccl_call({.function = "ncclAllReduce", .begin = 14 * us, .end = 15 * us, .bytes = 8, .ordinal = 2})
      .nccl_call({.function = "ncclGroupEnd", .begin = 20 * us, .end = 30 * us, .communicator = 0})
      .launched_kernel(22 * us, 40 * us, 90 * us, all_reduce)
      .launched_kernel(24 * us, 50 * us, 90 * us, all_reduce);
  const Report report = whole_report_on({rank});
  const NcclKindFigures& row = kind_in(report, "AllReduce");
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.bytes, 16u);
  EXPECT_EQ(row.kernels, 2u);
  EXPECT_EQ(row.joined_kernels, 0u);
  EXPECT_EQ(row.kernel_ns, 90 * us);
}

/// A group with a send to, and a receive from, the other rank, by one kernel.
RecordingBuilder& exchange(RecordingBuilder& builder, std::int32_t other, std::uint64_t at,
                           std::uint64_t kernel_begin, std::uint64_t kernel_end) {
  return builder.nccl_call({.function = "ncclGroupStart", .begin = at, .end = at + 1 * us, .communicator = 0})
      .nccl_call({.function = "ncclSend",
                  .begin = at + 2 * us,
                  .end = at + 3 * us,
                  .bytes = 1000,
                  .ordinal = 1,
                  .peer = other})
      .nccl_call({.function = "ncclRecv",
                  .begin = at + 4 * us,
                  .end = at + 5 * us,
                  .bytes = 2000,
                  .ordinal = 1,
                  .peer = other})
      .nccl_call({.function = "ncclGroupEnd", .begin = at + 6 * us, .end = at + 10 * us, .communicator = 0})
      .launched_kernel(at + 8 * us, kernel_begin, kernel_end, send_receive);
}

TEST(Nccl, calls_of_a_group_share_the_kernel_that_its_end_launches) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 2), rank_of(1, 2)};
  exchange(ranks[0], 1, 10 * us, 30 * us, 230 * us);
  exchange(ranks[1], 0, 110 * us, 130 * us, 230 * us);
  exchange(ranks[0], 1, 1010 * us, 1030 * us, 1100 * us);
  exchange(ranks[1], 0, 1010 * us, 1030 * us, 1100 * us);
  const Report report = whole_report_on(ranks);
  const NcclKindFigures& row = kind_in(report, "SendRecv");
  EXPECT_EQ(row.calls, 8u);
  EXPECT_EQ(row.bytes, 12'000u);
  EXPECT_EQ(row.kernels, 4u);
  EXPECT_EQ(row.joined_kernels, 4u);
  EXPECT_EQ(row.waiting_ns, 100 * us);
  EXPECT_EQ(report.nccl->late.at(0).rank, 1);
  EXPECT_EQ(report.nccl->late.at(0).times, 1u);
}

TEST(Nccl, a_send_that_ended_before_its_receive_began_did_not_wait_for_it) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 2), rank_of(1, 2)};
  call_alone(ranks[0],
             {.function = "ncclSend", .begin = 10 * us, .end = 0, .bytes = 8, .ordinal = 1, .peer = 1},
             30 * us, 40 * us, send_receive);
  call_alone(ranks[1],
             {.function = "ncclRecv", .begin = 500 * us, .end = 0, .bytes = 8, .ordinal = 1, .peer = 0},
             530 * us, 540 * us, send_receive);
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(kind_in(report, "SendRecv").joined_kernels, 2u);
  EXPECT_EQ(kind_in(report, "SendRecv").waiting_ns, 0u);
  EXPECT_TRUE(report.nccl->late.empty());
}

TEST(Nccl, a_broadcast_waits_for_its_root_alone) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 3), rank_of(1, 3), rank_of(2, 3)};
  const NcclCallWords words{
      .function = "ncclBroadcast", .begin = 50 * us, .end = 0, .bytes = 8, .ordinal = 1, .peer = 1};
  const char* kernel = "ncclDevKernel_Broadcast_RING_LL";
  call_alone(ranks[0], words, 100 * us, 300 * us, kernel);
  call_alone(ranks[1], words, 200 * us, 300 * us, kernel);
  call_alone(ranks[2], words, 280 * us, 300 * us, kernel);
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(kind_in(report, "Broadcast").waiting_ns, 100 * us);
  ASSERT_EQ(report.nccl->late.size(), 1u);
  EXPECT_EQ(report.nccl->late[0].rank, 1);
}

TEST(Nccl, a_kernel_of_a_group_of_several_kinds_is_no_ones) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 2), rank_of(1, 2)};
  for (RecordingBuilder& rank : ranks) {
    rank.nccl_call({.function = "ncclGroupStart", .begin = 10 * us, .end = 11 * us, .communicator = 0})
        .nccl_call({.function = "ncclAllReduce", .begin = 12 * us, .end = 13 * us, .bytes = 80, .ordinal = 1})
        .nccl_call({.function = "ncclAllGather", .begin = 14 * us, .end = 15 * us, .bytes = 8, .ordinal = 1})
        .nccl_call({.function = "ncclGroupEnd", .begin = 20 * us, .end = 30 * us, .communicator = 0})
        .launched_kernel(25 * us, 40 * us, 90 * us, all_reduce);
  }
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(kind_in(report, "several").kernels, 2u);
  EXPECT_EQ(kind_in(report, "several").joined_kernels, 2u);
  EXPECT_EQ(kind_in(report, "several").calls, 0u);
  EXPECT_EQ(kind_in(report, "AllReduce").calls, 2u);
  EXPECT_EQ(kind_in(report, "AllReduce").kernels, 0u);
  EXPECT_EQ(kind_in(report, "AllGather").bytes, 16u);
}

TEST(Nccl, messages_and_collectives_of_one_group_have_a_kernel_each) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 2), rank_of(1, 2)};
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    ranks[static_cast<std::size_t>(rank)]
        .nccl_call({.function = "ncclGroupStart", .begin = 10 * us, .end = 11 * us, .communicator = 0})
        .nccl_call({.function = "ncclGroupStart", .begin = 11 * us, .end = 12 * us, .communicator = 0})
        .nccl_call({.function = "ncclAllReduce", .begin = 12 * us, .end = 13 * us, .bytes = 80, .ordinal = 1})
        .nccl_call({.function = "ncclSend",
                    .begin = 14 * us,
                    .end = 15 * us,
                    .bytes = 8,
                    .ordinal = 1,
                    .peer = 1 - rank})
        .nccl_call({.function = "ncclRecv",
                    .begin = 16 * us,
                    .end = 17 * us,
                    .bytes = 8,
                    .ordinal = 1,
                    .peer = 1 - rank})
        .nccl_call({.function = "ncclGroupEnd", .begin = 18 * us, .end = 19 * us, .communicator = 0})
        .nccl_call({.function = "ncclGroupEnd", .begin = 20 * us, .end = 30 * us, .communicator = 0})
        .launched_kernel(25 * us, 40 * us, 90 * us, all_reduce)
        .launched_kernel(26 * us, 90 * us, 95 * us, send_receive);
  }
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(kind_in(report, "AllReduce").joined_kernels, 2u);
  EXPECT_EQ(kind_in(report, "SendRecv").joined_kernels, 2u);
  EXPECT_EQ(kind_in(report, "SendRecv").calls, 4u);
  EXPECT_TRUE(unknowns_of(*report.nccl).empty());
}

TEST(Nccl, without_calls_the_kernels_names_tell_kind_and_time_and_the_report_says_what_is_missing) {
  RecordingBuilder rank(0, 1);
  rank.runs(0, 1000 * us)
      .kernel(0, 100 * us, all_reduce)
      .kernel(50 * us, 150 * us, "stencil")
      .kernel(200 * us, 300 * us, "ncclDevKernel_Generic");
  const Report report = whole_report_on({rank});
  EXPECT_EQ(kind_in(report, "AllReduce").kernel_ns, 100 * us);
  EXPECT_EQ(kind_in(report, "AllReduce").exposed_ns, 50 * us);
  EXPECT_EQ(kind_in(report, "unknown").exposed_ns, 100 * us);
  EXPECT_EQ(kind_in(report, "AllReduce").calls, 0u);
  const std::vector<std::string> unknowns = unknowns_of(*report.nccl);
  ASSERT_EQ(unknowns.size(), 1u);
  EXPECT_EQ(unknowns[0].find("NCCL told nothing of its calls on 1 rank (NCCL_NVTX_DISABLE"), 0u);
  const auto row = nlohmann::json::parse(to_json(report))["nccl"]["kinds"][0];
  EXPECT_TRUE(row["bytes"].is_null());
  EXPECT_TRUE(row["waiting_s"].is_null());
}

TEST(Nccl, before_2_25_bytes_are_known_but_no_communicator) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 2), rank_of(1, 2)};
  for (RecordingBuilder& rank : ranks) {
    call_alone(rank,
               {.function = "ncclAllReduce", .begin = 50 * us, .end = 0, .communicator = 0, .bytes = 100},
               100 * us, 200 * us);
    call_alone(rank, {.function = "ncclAllReduce", .begin = 250 * us, .end = 0, .communicator = 0}, 300 * us,
               400 * us);
  }
  const Report report = whole_report_on(ranks);
  const NcclKindFigures& row = kind_in(report, "AllReduce");
  EXPECT_EQ(row.calls, 4u);
  EXPECT_EQ(row.calls_without_bytes, 2u);
  EXPECT_EQ(row.bytes, 200u);
  EXPECT_EQ(row.kernel_ns, 400 * us);
  EXPECT_EQ(row.joined_kernels, 0u);
  EXPECT_EQ(unknowns_of(*report.nccl).size(), 2u);
}

TEST(Nccl, kernels_that_another_thread_or_a_graph_launched_have_their_kind_by_name) {
  std::vector<RecordingBuilder> ranks{rank_of(0, 2), rank_of(1, 2)};
  for (RecordingBuilder& rank : ranks) {
    rank.nccl_call({.function = "ncclAllReduce", .begin = 50 * us, .end = 60 * us, .bytes = 8, .ordinal = 1});
    rank.launches(999, 0).launched_kernel(55 * us, 100 * us, 200 * us, all_reduce);
    rank.launches(0, 0).kernel(300 * us, 400 * us, all_reduce);
  }
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(kind_in(report, "AllReduce").kernels, 4u);
  EXPECT_EQ(kind_in(report, "AllReduce").joined_kernels, 0u);
  EXPECT_EQ(kind_in(report, "AllReduce").calls, 2u);
}

}  // namespace
}  // namespace penstock::analysis
