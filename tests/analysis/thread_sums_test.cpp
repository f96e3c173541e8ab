// Ranks in which several threads communicate, whose figures can be added up by hand. Times are ns.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using trace::Direction;

Report report_on(const RecordingBuilder& rank) {
  const TemporaryDirectory directory;
  rank.write(directory.path());
  return analyse(directory.path());
}

constexpr std::uint64_t first_thread = 100;  // RecordingBuilder::thread_of_lane()
constexpr std::uint64_t second_thread = 101;

/// Two threads with a GPU each. While the first one waits, from 200 to 400, the second one's GPU computes,
/// and the other way round before.
RecordingBuilder two_gpus() {
  return RecordingBuilder(0, 1)
      .launches(first_thread, 0)
      .kernel(0, 200)
      .launches(second_thread, 1)
      .kernel(200, 400)
      .on_lane(0)
      .call({.function = "MPI_Recv", .begin = 200, .end = 400, .call_site = 0x10})
      .range("halo", 150, 410)
      .on_lane(1)
      .call({.function = "MPI_Recv", .begin = 50, .end = 150, .call_site = 0x20})
      .call({.function = "MPI_Recv", .begin = 380, .end = 450, .call_site = 0x20})
      .range("flux", 0, 420);
}

/// Its time is counted for the call that it lies in, but it is a call all the same.
TEST(ThreadSums, a_collective_call_within_a_call_of_another_thread_is_counted) {
  const TemporaryDirectory directory;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder(rank, 2)
        .runs(0, 1000)
        .kernel(0, 10)
        .on_lane(0)
        .call({.function = "MPI_Recv", .begin = 50, .end = 500, .call_site = 0x10})
        .on_lane(1)
        .call({.function = "MPI_Allreduce", .begin = 100, .end = 200, .bytes = 64, .collective_ordinal = 1})
        .call({.function = "MPI_Allreduce", .begin = 450, .end = 600, .bytes = 64, .collective_ordinal = 2})
        .write(directory.path());
  }
  const Report report = analyse(directory.path(), {.whole_run = true});
  ASSERT_EQ(report.collectives.size(), 1u);
  EXPECT_EQ(report.collectives[0].calls, 4u);
  EXPECT_EQ(report.collectives[0].bytes, 4u * 64);
  EXPECT_EQ(report.ranks.at(0).host_ns, 550u) << "time is counted once";
}

TEST(ThreadSums, a_threads_wait_is_not_hidden_by_the_kernels_of_another_threads_gpu) {
  const Report report = report_on(two_gpus());
  const RankFigures& rank = report.ranks.at(0);
  EXPECT_EQ(rank.exposed_ns, 50u) << "to the rank, either GPU hides all but 400 to 450";
  ASSERT_EQ(rank.threads.size(), 2u);
  const ThreadFigures& second = rank.threads[0];  // the first to communicate
  const ThreadFigures& first = rank.threads[1];
  EXPECT_EQ(first.gpus, std::vector<std::uint8_t>{0});
  EXPECT_EQ(first.kernels_ns, 200u);
  EXPECT_EQ(first.host_ns, 200u);
  EXPECT_EQ(first.exposed_ns, 200u);
  EXPECT_EQ(first.hidden_ns, 0u);
  EXPECT_EQ(second.gpus, std::vector<std::uint8_t>{1});
  EXPECT_EQ(second.kernels_ns, 200u);
  EXPECT_EQ(second.host_ns, 170u);
  EXPECT_EQ(second.exposed_ns, 150u);
  EXPECT_EQ(second.hidden_ns, 20u);
  EXPECT_EQ(second.upper_bound_ns, 150u);
}

TEST(ThreadSums, each_exposed_nanosecond_of_a_thread_has_one_cause) {
  const Report report = report_on(two_gpus());
  for (const ThreadFigures& thread : report.ranks.at(0).threads) {
    EXPECT_EQ(thread.counted_ns, thread.exposed_ns);
    EXPECT_EQ(std::accumulate(thread.by_cause.begin(), thread.by_cause.end(), std::uint64_t{0}),
              thread.exposed_ns);
  }
}

TEST(ThreadSums, totals_and_breakdowns_are_those_of_ranks) {
  const Report report = report_on(two_gpus());
  EXPECT_EQ(report.counted_ns, 50u);
  EXPECT_EQ(report.ranks.at(0).counted_ns, 50u);
  EXPECT_EQ(report.ranks.at(0).host_ns, 350u);
}

TEST(ThreadSums, the_ranges_of_a_thread_have_its_own_times) {
  const Report report = report_on(two_gpus());
  const std::vector<ThreadFigures>& threads = report.ranks.at(0).threads;
  ASSERT_EQ(threads.at(1).phases.size(), 1u);
  EXPECT_EQ(threads[1].phases[0].name, "halo");
  EXPECT_EQ(threads[1].phases[0].total_ns, 260u);
  EXPECT_EQ(threads[1].phases[0].counted_ns, 200u);
  ASSERT_EQ(threads.at(0).phases.size(), 1u);
  EXPECT_EQ(threads[0].phases[0].name, "flux");
  EXPECT_EQ(threads[0].phases[0].counted_ns, 120u) << "50 to 150, 400 to 420";
  EXPECT_EQ(threads[0].phases[0].upper_bound_ns, 120u);
}

TEST(ThreadSums, a_thread_that_polls_has_its_messages_under_way_in_the_upper_bound_alone) {
  RecordingBuilder rank = two_gpus();
  rank.on_lane(0)
      .call({.function = "MPI_Test", .begin = 500, .end = 690, .waits = 0})
      .half({.direction = Direction::receive, .peer = 0, .post = 490, .complete = 690, .blocking = false})
      .range("polled", 480, 600)
      .on_lane(1)
      .launches(second_thread, 1)
      .kernel(500, 600);
  const Report report = report_on(rank);
  const ThreadFigures& first = report.ranks.at(0).threads.at(1);
  EXPECT_EQ(first.exposed_ns, 200u);
  EXPECT_EQ(first.in_flight_ns, 200u);
  EXPECT_EQ(first.upper_bound_ns, 400u);
  EXPECT_EQ(report.ranks[0].threads[0].upper_bound_ns, 150u) << "the messages of the other one";
  EXPECT_EQ(report.ranks[0].upper_bound_ns, 50u + 10u + 90u);
  ASSERT_EQ(first.phases.size(), 2u);
  EXPECT_EQ(first.phases[1].name, "polled");
  EXPECT_EQ(first.phases[1].counted_ns, 0u);
  EXPECT_EQ(first.phases[1].upper_bound_ns, 110u);
}

/// Two threads that wait from 50 to 250 and from 60 to 210.
RecordingBuilder two_waits() {
  return RecordingBuilder(0, 1)
      .on_lane(0)
      .call({.function = "MPI_Recv", .begin = 50, .end = 250})
      .on_lane(1)
      .call({.function = "MPI_Recv", .begin = 60, .end = 210});
}

TEST(ThreadSums, threads_that_share_a_gpu_have_all_its_kernels) {
  RecordingBuilder rank = two_waits();
  rank.launches(first_thread, 0).kernel(0, 100).launches(second_thread, 0).kernel(100, 200);
  const Report report = report_on(rank);
  const std::vector<ThreadFigures>& threads = report.ranks.at(0).threads;
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].kernels_ns, 200u);
  EXPECT_EQ(threads[0].exposed_ns, 50u) << "its GPU computes until 200";
  EXPECT_EQ(threads[1].exposed_ns, 10u);
}

TEST(ThreadSums, for_a_thread_that_launches_nothing_all_kernels_count) {
  constexpr std::uint64_t another_thread = 777;  // which does not communicate
  RecordingBuilder rank = two_waits();
  rank.launches(first_thread, 0).kernel(0, 100).launches(another_thread, 1).kernel(100, 200);
  const Report report = report_on(rank);
  const std::vector<ThreadFigures>& threads = report.ranks.at(0).threads;
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].kernels_ns, 100u);
  EXPECT_TRUE(threads[1].gpus.empty());
  EXPECT_EQ(threads[1].kernels_ns, 200u);
  EXPECT_EQ(threads[1].exposed_ns, 10u);
}

TEST(ThreadSums, kernels_that_nobody_is_known_to_have_launched_count_for_each_thread) {
  RecordingBuilder rank = two_gpus();
  rank.launches(0, 1).kernel(210, 260);
  const Report report = report_on(rank);
  EXPECT_EQ(report.ranks.at(0).threads.at(1).exposed_ns, 150u);
  EXPECT_EQ(report.ranks.at(0).threads.at(1).gpus, std::vector<std::uint8_t>{0});
}

TEST(ThreadSums, kernels_of_penstock_and_nccl_make_no_gpu_a_threads_own) {
  RecordingBuilder rank = two_gpus();
  rank.launches(first_thread, 1).kernel(0, 450, "pull", true).kernel(0, 450, "ncclDevKernel_AllReduce");
  const Report report = report_on(rank);
  EXPECT_EQ(report.ranks.at(0).threads.at(1).gpus, std::vector<std::uint8_t>{0});
  EXPECT_EQ(report.ranks.at(0).threads.at(1).exposed_ns, 200u);
}

TEST(ThreadSums, a_rank_with_one_thread_that_communicates_has_no_rows_of_threads) {
  RecordingBuilder rank(0, 1);
  rank.on_lane(0)
      .call({.function = "MPI_Recv", .begin = 200, .end = 400})
      .on_lane(1)
      .call({.function = "MPI_Comm_rank", .begin = 200, .end = 210, .waits = 0})
      .call({.function = "MPI_Test", .begin = 300, .end = 310, .waits = 0})
      .kernel(0, 10);
  const Report report = report_on(rank);
  EXPECT_TRUE(report.ranks.at(0).threads.empty());
  EXPECT_FALSE(nlohmann::json::parse(to_json(report)).at("ranks").at(0).contains("threads"));
  EXPECT_EQ(to_text(report, {.all = true}).find("thread"), std::string::npos);
}

TEST(ThreadSums, threads_that_communicate_only_outside_the_steps_have_no_rows_and_others_keep_their_numbers) {
  RecordingBuilder rank(0, 1);
  rank.on_lane(2).call({.function = "MPI_Barrier", .begin = 1, .end = 5, .collective_ordinal = 1});
  for (std::uint64_t lane = 0; lane < 2; ++lane) {
    rank.on_lane(lane);
    for (std::uint64_t step = 0; step < 8; ++step) {
      const std::uint64_t at = 100 + step * 100;
      rank.call({.function = "MPI_Recv", .begin = at + 10 + lane, .end = at + 50, .call_site = 0x10});
      if (lane == 0) {
        rank.range("step", at, at + 100).launches(first_thread, 0).kernel(at, at + 10);
      }
    }
  }
  const Report report = report_on(rank);
  ASSERT_TRUE(report.steps);
  ASSERT_EQ(report.ranks.at(0).threads.size(), 2u);
  EXPECT_EQ(report.ranks[0].threads[0].number, 1u);
  EXPECT_EQ(report.ranks[0].threads[1].number, 2u);
}

TEST(ThreadSums, without_kernel_records_a_thread_has_its_time_in_mpi) {
  RecordingBuilder rank = two_gpus();
  rank.header().features &= ~trace::feature::kernels;
  const Report report = report_on(rank);
  EXPECT_EQ(report.measure, Measure::communication_time);
  const ThreadFigures& first = report.ranks.at(0).threads.at(1);
  EXPECT_EQ(first.counted_ns, 200u);
  const nlohmann::json json = nlohmann::json::parse(to_json(report)).at("ranks").at(0).at("threads").at(1);
  EXPECT_TRUE(json.at("exposed_s").is_null());
  EXPECT_TRUE(json.at("kernels_s").is_null());
  EXPECT_TRUE(json.at("phases").at(0).at("exposed_upper_bound_s").is_null());
}

std::vector<std::string> names_of(const Report& report) {
  std::vector<std::string> names;
  for (const ThreadFigures& thread : report.ranks.at(0).threads) {
    names.push_back(label_of(thread, report.ranks[0].threads));
  }
  return names;
}

TEST(ThreadNames, are_those_that_the_program_gave) {
  EXPECT_EQ(names_of(report_on(two_gpus().on_lane(0).named("west").on_lane(1).named("east"))),
            (std::vector<std::string>{"east", "west"}));
}

TEST(ThreadNames, that_are_the_programs_own_or_not_known_are_numbers) {
  EXPECT_EQ(names_of(report_on(two_gpus().on_lane(0).named("solver"))), (std::vector<std::string>{"0", "1"}));
}

TEST(ThreadNames, that_several_bear_stand_behind_a_number) {
  EXPECT_EQ(names_of(report_on(two_gpus().on_lane(0).named("worker").on_lane(1).named("worker"))),
            (std::vector<std::string>{"0 (worker)", "1 (worker)"}));
}

TEST(ThreadNames, of_a_lane_that_several_threads_used_one_after_the_other_are_none) {
  RecordingBuilder rank = two_gpus();
  trace::Thread next{};
  next.thread_id = 555;
  std::string("north").copy(next.name, sizeof next.name);
  next.kind = trace::RecordKind::thread;
  rank.on_lane(0).named("west").raw(next).on_lane(1).named("east").launches(555, 3).kernel(300, 350);
  const Report report = report_on(rank);
  EXPECT_EQ(names_of(report), (std::vector<std::string>{"east", "1"}));
  EXPECT_EQ(report.ranks[0].threads[1].gpus, (std::vector<std::uint8_t>{0, 3})) << "the later thread's, too";
}

TEST(ThreadRows, stand_below_their_ranks_and_say_which_kernels_count) {
  RecordingBuilder rank = two_gpus();
  rank.on_lane(0).named("west").on_lane(2).call({.function = "MPI_Recv", .begin = 500, .end = 600});
  const std::string text = to_text(report_on(rank), {.all = true});
  EXPECT_NE(text.find("\n  rank 0, thread 0 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  rank 0, thread west "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  rank 0, thread 2 § "), std::string::npos) << text;
  EXPECT_NE(text.find("§ is not known to have launched any"), std::string::npos) << text;
  EXPECT_NE(text.find("NVTX phase of a thread  rank  thread"), std::string::npos) << text;
}

TEST(ThreadRows, are_those_that_may_wait_longest_where_there_are_too_many) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 10).runs(0, 100'000);
  for (std::uint64_t lane = 0; lane < 40; ++lane) {
    rank.on_lane(lane).call({.function = "MPI_Recv", .begin = 100 + lane, .end = 200 + 10 * lane});
  }
  const std::string text = to_text(report_on(rank), {});
  EXPECT_EQ(text.find("thread 3 "), std::string::npos) << text;
  EXPECT_NE(text.find("thread 39 "), std::string::npos) << text;
  EXPECT_NE(text.find("of 40 threads"), std::string::npos) << text;
}

TEST(ThreadJson, says_which_gpus_and_names_its_ranges) {
  const nlohmann::json json = nlohmann::json::parse(to_json(report_on(two_gpus().on_lane(0).named("west"))));
  const nlohmann::json& threads = json.at("ranks").at(0).at("threads");
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_TRUE(threads[0].at("name").is_null());
  EXPECT_EQ(threads[1].at("number"), 1);
  EXPECT_EQ(threads[1].at("name"), "west");
  EXPECT_EQ(threads[1].at("gpus"), nlohmann::json::array({0}));
  EXPECT_DOUBLE_EQ(threads[1].at("exposed_s"), 200e-9);
  EXPECT_EQ(threads[1].at("phases").at(0).at("name"), "halo");
  EXPECT_DOUBLE_EQ(threads[1].at("phases").at(0).at("counted_s"), 200e-9);
}

}  // namespace
}  // namespace penstock::analysis
