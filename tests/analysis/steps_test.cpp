// What a program repeats, found in recordings written by hand. Times are ns.
#include "analysis/causes/steps.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::CallWords;
using testing::origin_ns;
using testing::RecordingBuilder;
using testing::report_on;

CallWords call(std::uint64_t begin, std::uint64_t site, std::uint64_t length = 10) {
  return {.function = "MPI_Sendrecv", .begin = begin, .end = begin + length, .call_site = site};
}

/// Start-up until 1000 with one exposed call, then steps of 100 with calls at two places, then shutdown.
RecordingBuilder solver(std::int32_t rank, std::int32_t ranks, std::uint64_t steps) {
  RecordingBuilder builder(rank, ranks);
  builder.runs(0, 1000 + steps * 100 + 500).kernel(900, 901).call(call(100, 0x10, 50));
  for (std::uint64_t step = 0; step < steps; ++step) {
    builder.call(call(1000 + step * 100, 0x20)).call(call(1050 + step * 100, 0x30));
  }
  return builder.call(call(1000 + steps * 100 + 100, 0x40, 30));
}

TEST(Steps, are_marked_by_the_call_that_comes_again_and_again) {
  const Report report = report_on({solver(0, 2, 10), solver(1, 2, 10)});
  ASSERT_TRUE(report.steps);
  EXPECT_FALSE(report.steps->is_range);
  EXPECT_EQ(report.steps->mark, "MPI_Sendrecv at 0x20");
  ASSERT_EQ(report.steps->each.size(), 9u);  // between ten marks
  EXPECT_EQ(report.steps->median_ns, 100u);
  EXPECT_EQ(report.steps->each[3].total_ns, 200u);
  EXPECT_EQ(report.total_ns, 2u * 900);
  EXPECT_EQ(report.ranks[0].run_ns, 2500u);
  EXPECT_EQ(report.ranks[0].total_ns, 900u);
}

/// Steps of 100 with one call each, and a wrapper's call at two places of each step.
RecordingBuilder by_a_wrapper(std::int32_t rank, std::uint64_t first_caller, std::uint64_t second_caller) {
  RecordingBuilder builder(rank, 2);
  builder.runs(0, 3000).kernel(900, 901);
  const std::uint64_t first = builder.path({0x20, first_caller});
  const std::uint64_t second = builder.path({0x20, second_caller});
  for (std::uint64_t step = 0; step < 10; ++step) {
    builder.call(call(1000 + step * 100, first)).call(call(1040 + step * 100, second));
  }
  return builder;
}

TEST(Steps, are_told_apart_by_who_calls_a_wrapper_several_times_in_each) {
  const Report report = report_on({by_a_wrapper(0, 0x30, 0x40), by_a_wrapper(1, 0x30, 0x40)});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->each.size(), 9u);
  EXPECT_EQ(report.steps->median_ns, 100u);
}

TEST(Steps, are_marked_by_the_wrapper_itself_where_ranks_come_to_it_on_different_paths) {
  const Report report = report_on({by_a_wrapper(0, 0x30, 0x40), by_a_wrapper(1, 0x50, 0x60)});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->mark, "MPI_Sendrecv at 0x20");
  EXPECT_EQ(report.steps->each.size(), 19u);
}

TEST(Steps, start_up_and_shutdown_stand_apart_and_are_not_counted) {
  const Report report = report_on({solver(0, 1, 10)});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->before.total_ns, 1000u);
  EXPECT_EQ(report.steps->before.counted_ns, 50u);
  EXPECT_EQ(report.steps->behind.total_ns, 600u);
  EXPECT_EQ(report.steps->behind.counted_ns, 10u + 10 + 30);
  EXPECT_EQ(report.counted_ns, 9u * 20);
  for (const CallSiteFigures& site : report.call_sites) {
    EXPECT_EQ(site.calls, 9u) << site.module_offset;
  }
  ASSERT_EQ(report.call_sites.size(), 2u);
}

/// Two ranks with four steps of 100, in each of which they compute for so long and are then in MPI.
RecordingBuilder computing_for(std::int32_t rank, const std::vector<std::uint64_t>& computing) {
  RecordingBuilder builder(rank, 2);
  builder.runs(0, 200 + computing.size() * 100).kernel(0, 1);
  for (std::uint64_t step = 0; step < computing.size(); ++step) {
    const std::uint64_t begin = 100 + step * 100;
    builder.range("step", begin, begin + 100)
        .kernel(begin, begin + computing[step])
        .call(call(begin + computing[step], 0x20, 100 - computing[step]));
  }
  return builder;
}

TEST(Steps, have_their_efficiency_over_time) {
  const Report report = report_on({computing_for(0, {80, 80, 40, 80}), computing_for(1, {80, 40, 40, 80})});
  ASSERT_TRUE(report.steps);
  const std::vector<StepsEfficiency>& over_time = report.steps->efficiency_over_time;
  ASSERT_EQ(over_time.size(), 4u);
  const double expected[][2] = {{1, 0.8}, {0.75, 0.8}, {1, 0.4}, {1, 0.8}};  // load balance, communication
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(over_time[i].first, i);
    EXPECT_EQ(over_time[i].steps, 1u);
    EXPECT_EQ(over_time[i].total_ns, 200u);
    EXPECT_DOUBLE_EQ(over_time[i].efficiency.load_balance, expected[i][0]) << i;
    EXPECT_DOUBLE_EQ(over_time[i].efficiency.communication, expected[i][1]) << i;
  }
}

TEST(Steps, of_which_there_are_many_have_their_efficiency_in_batches) {
  const std::vector<std::uint64_t> computing(45, 50);
  const Report report = report_on({computing_for(0, computing), computing_for(1, computing)});
  ASSERT_TRUE(report.steps);
  std::size_t steps = 0;
  for (const StepsEfficiency& each : report.steps->efficiency_over_time) {
    EXPECT_EQ(each.first, steps);
    steps += each.steps;
    EXPECT_DOUBLE_EQ(each.efficiency.parallel(), 0.5);
  }
  EXPECT_EQ(steps, 45u);
  EXPECT_EQ(report.steps->efficiency_over_time.size(), 20u);
}

TEST(Steps, exposed_time_of_the_steps_adds_up_to_the_whole) {
  RecordingBuilder rank = solver(0, 1, 10);
  rank.kernel(1055, 1105);  // goes on into the second step
  const Report report = report_on({rank});
  ASSERT_TRUE(report.steps);
  std::uint64_t sum_ns = 0;
  for (const StepFigures& step : report.steps->each) {
    sum_ns += std::accumulate(step.by_cause.begin(), step.by_cause.end(), std::uint64_t{0});
  }
  EXPECT_EQ(sum_ns, report.counted_ns);
  EXPECT_EQ(report.counted_ns, 9u * 20 - 5 - 5);
  const TimeByCause& second = report.steps->each[1].by_cause;
  EXPECT_EQ(std::accumulate(second.begin(), second.end(), std::uint64_t{0}), 15u);
}

TEST(Steps, a_call_that_goes_over_the_end_of_a_step_is_cut_there) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 1);
  for (std::uint64_t step = 0; step < 4; ++step) {
    rank.range("step", 100 + step * 100, 200 + step * 100).call(call(180 + step * 100, 0x10, 40));
  }
  const Report report = report_on({rank});
  ASSERT_TRUE(report.steps);
  ASSERT_EQ(report.steps->each.size(), 4u);
  const auto sum = [&](std::size_t step) {
    const TimeByCause& times = report.steps->each[step].by_cause;
    return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
  };
  EXPECT_EQ(sum(0), 20u);
  EXPECT_EQ(sum(1), 40u);
  EXPECT_EQ(sum(3), 40u);
  EXPECT_EQ(report.steps->behind.counted_ns, 20u);
}

TEST(Steps, an_outer_nvtx_range_is_taken_before_inner_ones_and_calls) {
  RecordingBuilder rank = solver(0, 1, 10);
  for (std::uint64_t step = 0; step < 10; ++step) {
    const std::uint64_t begin = 990 + step * 100;
    rank.range("iteration", begin, begin + 90);
    trace::Range inner{};
    inner.begin_ns = origin_ns + begin + 5;
    inner.end_ns = origin_ns + begin + 50;
    inner.name = rank.text("exchange");
    inner.depth = 1;
    inner.kind = trace::RecordKind::range;
    rank.raw(inner);
  }
  rank.range("exchange", 500, 510);  // during start-up, where no other range is round it
  const Report report = report_on({rank});
  ASSERT_TRUE(report.steps);
  EXPECT_TRUE(report.steps->is_range);
  EXPECT_EQ(report.steps->mark, "iteration");
  EXPECT_EQ(report.steps->each.size(), 10u);
  EXPECT_EQ(report.ranks[0].total_ns, 990u);  // from the first one's begin to the last one's end

  const Report asked = report_on({rank}, {.step_range = "exchange"});
  EXPECT_EQ(asked.steps->mark, "exchange");
}

/// Set-up makes `calls` calls, each of `length`, then 12 ranges of 100 with one call each.
RecordingBuilder with_set_up(std::uint64_t calls, std::uint64_t length) {
  RecordingBuilder builder(0, 1);
  builder.kernel(0, 1);
  for (std::uint64_t i = 0; i < calls; ++i) {
    builder.call(call(10 + i * length, 0x20, length / 2));
  }
  const std::uint64_t begin = 10 + calls * length;
  for (std::uint64_t step = 0; step < 12; ++step) {
    builder.range("step", begin + step * 100, begin + step * 100 + 99)
        .call(call(begin + step * 100 + 80, 0x30));
  }
  return builder.runs(0, begin + 2000);
}

TEST(Steps, are_ranges_that_hold_half_of_the_time_though_set_up_makes_more_calls) {
  const Report report = report_on({with_set_up(100, 10)});
  ASSERT_TRUE(report.steps);
  EXPECT_TRUE(report.steps->is_range);
  EXPECT_EQ(report.steps->each.size(), 12u);
}

TEST(Steps, are_not_ranges_that_hold_less_and_have_fewer_calls) {
  const Report report = report_on({with_set_up(100, 20)});
  ASSERT_TRUE(report.steps);
  EXPECT_FALSE(report.steps->is_range);
}

TEST(Steps, are_the_ranges_round_those_that_stand_alone_in_set_up_too) {
  RecordingBuilder rank = with_set_up(10, 200);  // holds less than half of the time, and 12 of 22 calls
  const auto inner = [&rank](std::uint64_t begin, std::uint8_t depth) {
    trace::Range range{};
    range.begin_ns = origin_ns + begin;
    range.end_ns = origin_ns + begin + 20;
    range.name = rank.text("exchange");
    range.depth = depth;
    range.kind = trace::RecordKind::range;
    rank.raw(range);
  };
  inner(15, 0);
  for (std::uint64_t step = 0; step < 12; ++step) {
    inner(2010 + step * 100 + 5, 1);
  }
  const Report report = report_on({rank});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->mark, "step");
}

TEST(Steps, are_the_longer_of_two_ranges_that_begin_together) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 1);
  for (std::uint64_t step = 0; step < 12; ++step) {
    const std::uint64_t begin = 1000 + step * 100;
    rank.range("part of it", begin, begin + 60).range("step", begin, begin + 99).call(call(begin + 80, 0x30));
  }
  const Report report = report_on({rank.runs(0, 3000)});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->mark, "step");
}

TEST(Steps, of_several_threads_in_one_range_count_once_as_time) {
  RecordingBuilder rank = with_set_up(100, 20);
  for (std::uint64_t thread = 0; thread < 8; ++thread) {
    for (std::uint64_t step = 0; step < 12; ++step) {
      rank.range("step", 2010 + step * 100, 2010 + step * 100 + 99);
    }
  }
  const Report report = report_on({rank});
  ASSERT_TRUE(report.steps);
  EXPECT_FALSE(report.steps->is_range);
}

TEST(Steps, are_those_of_one_thread_where_each_goes_through_all) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 1);
  for (std::uint64_t step = 0; step < 12; ++step) {
    const std::uint64_t begin = 1000 + step * 100;
    rank.range("step", begin, begin + 90, 7)
        .range("step", begin + 30, begin + 95, 8)
        .call(call(begin + 50, 0x30));
  }
  const Report report =
      report_on({rank.range("step", 2230, 2240, 8).runs(0, 3000)});  // one more of the second
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->mark, "step");
  EXPECT_EQ(report.steps->each.size(), 12u);
  EXPECT_EQ(report.steps->median_ns, 100u);
  EXPECT_EQ(report.total_ns, 1190u);
}

TEST(Steps, are_those_of_all_threads_where_they_share_the_steps_out) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 1);
  for (std::uint64_t step = 0; step < 12; ++step) {
    const std::uint64_t begin = 1000 + step * 100;
    rank.range("step", begin, begin + 90, step % 4 == 0 ? 7 : 8).call(call(begin + 50, 0x30));
  }
  const Report report = report_on({rank.runs(0, 3000)});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->each.size(), 12u);
  EXPECT_EQ(report.steps->median_ns, 100u);
}

TEST(Steps, are_not_the_ranges_that_a_library_opens_round_its_own_calls) {
  RecordingBuilder rank = solver(0, 1, 10);
  for (std::uint64_t step = 0; step < 10; ++step) {
    const std::uint64_t begin = 990 + step * 100;
    rank.range("cub::DeviceScan::ExclusiveSum", begin, begin + 2);
    rank.range("cub::DeviceScan::ExclusiveSum", begin + 3, begin + 4);
    rank.range("ncclAllReduce", begin + 4, begin + 5);
    rank.range("iteration", begin + 5, begin + 90);
  }
  const Report report = report_on({rank});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->mark, "iteration");
  EXPECT_EQ(report.steps->each.size(), 10u);

  const Report asked = report_on({rank}, {.step_range = "cub::DeviceScan::ExclusiveSum"});
  EXPECT_EQ(asked.steps->each.size(), 20u);
}

TEST(Steps, do_not_depend_on_how_long_anything_took) {
  RecordingBuilder uneven(0, 1);
  uneven.kernel(0, 1);
  std::uint64_t begin = 100;
  for (std::uint64_t step = 0; step < 12; ++step) {
    uneven.call(call(begin, 0x20)).call(call(begin + 20, 0x30));
    begin += 50 + step * step * 1000;
  }
  const Report report = report_on({uneven.runs(0, begin)});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->each.size(), 11u);
}

TEST(Steps, a_place_that_is_called_twice_a_step_does_not_halve_it) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 1);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const std::uint64_t begin = 100 + step * 100;
    rank.call(call(begin, 0x20)).call(call(begin + 20, 0x20)).call(call(begin + 40, 0x30));
  }
  const Report report = report_on({rank.runs(0, 3000)});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->mark, "MPI_Sendrecv at 0x30");
}

/// A step of 1000 that exchanges with 6 neighbours in a loop, of one call or of two, and then waits for all.
enum class Loop : std::uint8_t { of_sends, of_exchanges, of_sends_and_receives, of_a_window };
RecordingBuilder halo(Loop loop, std::uint64_t steps) {
  constexpr std::uint64_t neighbours = 6;
  RecordingBuilder builder(0, 8);
  builder.kernel(0, 1).runs(0, (steps + 2) * 1000);
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t begin = 1000 + step * 1000;
    for (std::uint64_t i = 0; i < neighbours; ++i) {
      const auto number = static_cast<std::int32_t>(i);
      const CallWords words{.function = "MPI_Sendrecv",
                            .begin = begin + i * 100,
                            .end = begin + i * 100 + 10,
                            .bytes = 8,
                            .call_site = 0x20,
                            .peer = number / 2,
                            .tag = number % 2};
      CallWords send = words;
      send.function = "MPI_Isend";
      send.waits = 0;
      switch (loop) {
        case Loop::of_exchanges:
          builder.call(words);
          break;
        case Loop::of_a_window:
          send.peer = send.tag = 0;
          [[fallthrough]];
        case Loop::of_sends:
          builder.call(send);
          break;
        case Loop::of_sends_and_receives:
          builder.call(send);
          send.function = "MPI_Recv";
          send.waits = 1;
          send.call_site = 0x30;
          send.begin += 20;
          send.end += 20;
          builder.call(send);
          break;
      }
    }
    builder.call({.function = "MPI_Waitall", .begin = begin + 700, .end = begin + 900, .call_site = 0x40});
  }
  return builder;
}

TEST(Steps, are_not_the_messages_of_a_loop_over_neighbours) {
  for (const Loop loop :
       {Loop::of_sends, Loop::of_exchanges, Loop::of_sends_and_receives, Loop::of_a_window}) {
    SCOPED_TRACE(static_cast<int>(loop));
    const Report report = report_on({halo(loop, 12)});
    ASSERT_TRUE(report.steps);
    EXPECT_EQ(report.steps->each.size(), 11u);
    EXPECT_EQ(report.steps->median_ns, 1000u);
    EXPECT_EQ(report.steps->before.total_ns, 1000u) << "they begin with the loop";
  }
}

TEST(Steps, may_hold_one_call_each) {
  RecordingBuilder rank(0, 2);
  rank.kernel(0, 1).runs(0, 3000);
  for (std::uint64_t step = 0; step < 20; ++step) {
    CallWords words = call(100 + step * 100, 0x20);
    words.tag = static_cast<std::int32_t>(step % 2);
    rank.call(words);
  }
  const Report report = report_on({rank});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->each.size(), 19u);
}

TEST(Steps, are_not_seen_in_a_program_that_repeats_nothing) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 1);
  for (std::uint64_t i = 0; i < 20; ++i) {
    rank.call(call(i * 20, 0x10 + i));
  }
  EXPECT_FALSE(report_on({rank}).steps);
  EXPECT_FALSE(report_on({solver(0, 1, 2)}).steps);  // twice is not again and again
}

TEST(Steps, are_not_seen_where_ranks_do_different_things) {
  EXPECT_FALSE(report_on({solver(0, 2, 10), solver(1, 2, 20)}).steps);
}

TEST(Steps, of_a_killed_job_may_differ_by_one_between_ranks) {
  const Report report = report_on({solver(0, 2, 10), solver(1, 2, 11)});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->each.size(), 10u);
  EXPECT_EQ(report.steps->each[9].total_ns, 100u);  // of one rank
}

TEST(Steps, a_rank_without_a_gpu_is_not_asked_where_others_have_one) {
  RecordingBuilder controller(1, 2);
  controller.header().features = trace::feature::kernels;
  controller.call(call(100, 0x90, 1000));
  const Report report = report_on({solver(0, 2, 10), controller});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->each.size(), 9u);
}

TEST(Steps, the_whole_run_is_counted_when_that_is_asked_for) {
  const Report report = report_on({solver(0, 1, 10)}, {.whole_run = true});
  EXPECT_FALSE(report.steps);
  EXPECT_EQ(report.total_ns, 2500u);
  EXPECT_EQ(report.counted_ns, 50u + 10 * 20 + 30);
}

TEST(Steps, a_range_that_nobody_has_is_said_and_the_whole_run_counted) {
  const Report report = report_on({solver(0, 1, 10)}, {.step_range = "sweep"});
  EXPECT_FALSE(report.steps);
  EXPECT_EQ(report.total_ns, 2500u);
  ASSERT_EQ(report.flaws.size(), 1u);
  EXPECT_EQ(report.flaws[0].what, "no NVTX range \"sweep\" in it, so the whole run is counted");
}

TEST(NamedSteps, that_some_ranks_have_fewer_of_are_said_to_be) {
  std::vector<RecordingBuilder> ranks;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder& builder = ranks.emplace_back(rank, 2);
    builder.runs(0, 1'000).kernel(0, 1);
    for (std::uint64_t step = 0; step < (rank == 0 ? 8 : 4); ++step) {
      builder.range("it", 100 + step * 100, 200 + step * 100);
    }
  }
  const Report report = report_on(ranks, {.step_range = "it"});
  ASSERT_EQ(report.flaws.size(), 1u);
  EXPECT_EQ(report.flaws[0].file, "rank-1.penstock");
  EXPECT_EQ(report.flaws[0].what,
            "has 4 of the 8 steps that others have: times of a step are whole times divided by 8");
}

TEST(NamedSteps, leave_out_ranks_that_have_none_of_them_and_say_so) {
  std::vector<RecordingBuilder> ranks;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder& builder = ranks.emplace_back(rank, 2);
    builder.runs(0, 1'000).kernel(0, 1);
    for (std::uint64_t step = 0; step < 4 && rank == 1; ++step) {
      builder.range("it", 100 + step * 100, 200 + step * 100);
    }
  }
  const Report report = report_on(ranks, {.step_range = "it"});
  EXPECT_EQ(report.counted_ranks, 1u);
  EXPECT_FALSE(report.ranks.at(0).is_counted);
  EXPECT_EQ(report.total_ns, 400u);
  ASSERT_EQ(report.flaws.size(), 1u);
  EXPECT_EQ(report.flaws[0].file, "rank-0.penstock");
}

}  // namespace
}  // namespace penstock::analysis
