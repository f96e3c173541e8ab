// Jobs run again with other weights: answers by hand, and a small simulator whose jobs are really changed.
// Times are ns.
#include <gtest/gtest.h>
#include <array>

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"
#include "tests/analysis/simulated_job.hpp"

namespace penstock::analysis {
namespace {

using testing::Model;
using testing::RecordingBuilder;
using testing::report_on;
using testing::simulate;
using testing::Simulated;
using testing::total_of;
using testing::whole_report_on;
using trace::Direction;

void expect_close(std::uint64_t predicted_ns, std::uint64_t outcome_ns, double share) {
  EXPECT_NEAR(static_cast<double>(predicted_ns), static_cast<double>(outcome_ns),
              share * static_cast<double>(outcome_ns));
}

class Replay : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] Model model() const {
    Model made;
    made.kernel_ns = {100'000, 130'000, 90'000, 120'000};
    made.overlaps = GetParam();
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(Overlapping, Replay, ::testing::Bool());

TEST_P(Replay, with_nothing_changed_gives_the_recording_again) {
  const Simulated job = simulate(model());
  const Report report = whole_report_on(job.ranks);
  ASSERT_TRUE(report.replay) << report.why_no_replay;
  EXPECT_EQ(report.replay->observed_ns, job.total_ns);
  EXPECT_EQ(report.replay->replayed_ns, job.total_ns);
  EXPECT_EQ(report.replay->edges_left_out, 0u);
}

TEST_P(Replay, free_messages_are_predicted_as_the_changed_job_turns_out) {
  Model changed = model();
  const Report report = whole_report_on(simulate(changed).ranks);
  ASSERT_TRUE(report.replay);
  changed.wire_ns = 0;
  changed.reduction_ns = 0;
  expect_close(total_of(*report.replay, "free_communication"), simulate(changed).total_ns, 0.005);
}

TEST_P(Replay, a_job_without_messages_is_predicted_as_it_turns_out) {
  Model changed = model();
  const Report report = whole_report_on(simulate(changed).ranks);
  ASSERT_TRUE(report.replay);
  changed.has_messages = false;
  expect_close(total_of(*report.replay, "without_messages"), simulate(changed).total_ns, 0.005);
}

/// Another rank is the slow one in each step, so that waits add up which messages alone bring about.
TEST(ReplayWithoutMessages, no_rank_waits_for_another) {
  Model made;
  made.kernel_ns = {100'000, 300'000};
  made.kernels_alternate = true;
  made.has_reductions = false;
  const Report report = whole_report_on(simulate(made).ranks);
  ASSERT_TRUE(report.replay);
  made.has_messages = false;
  const std::uint64_t outcome_ns = simulate(made).total_ns;
  expect_close(total_of(*report.replay, "without_messages"), outcome_ns, 0.005);
  EXPECT_GT(total_of(*report.replay, "free_communication"), outcome_ns + outcome_ns / 4);
}

TEST_P(Replay, a_balanced_job_is_predicted_as_it_turns_out) {
  Model changed = model();
  const Report report = whole_report_on(simulate(changed).ranks);
  ASSERT_TRUE(report.replay);
  changed.kernel_ns = std::vector<std::uint64_t>(4, 110'000);
  expect_close(total_of(*report.replay, "balanced"), simulate(changed).total_ns, 0.02);
}

/// Two ranks with so much host code in front of each exchange by MPI_Irecv, MPI_Isend and MPI_Waitall.
Simulated exchange_by_requests(const std::array<std::uint64_t, 2>& host_ns) {
  constexpr std::uint64_t wire_ns = 4'000;
  Simulated job;
  for (std::int32_t rank = 0; rank < 2; ++rank) job.ranks.emplace_back(rank, 2);
  const std::uint64_t step_ns = std::max(host_ns[0], host_ns[1]) + 30 + wire_ns;
  for (std::uint64_t step = 0; step < 20; ++step) {
    const std::uint64_t end = (step + 1) * step_ns;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const std::uint64_t posted = step * step_ns + host_ns[rank];
      const auto peer = static_cast<std::int32_t>(1 - rank);
      const auto key = [step](std::size_t sender) { return (std::uint64_t{sender} + 1) << 40 | (step + 1); };
      job.ranks[rank]
          .call({.function = "MPI_Irecv",
                 .begin = posted,
                 .end = posted + 10,
                 .bytes = 4096,
                 .call_site = 1,
                 .waits = 0})
          .call({.function = "MPI_Isend",
                 .begin = posted + 20,
                 .end = posted + 30,
                 .bytes = 4096,
                 .call_site = 2,
                 .waits = 0})
          .call({.function = "MPI_Waitall", .begin = posted + 30, .end = end, .call_site = 3})
          .half({.direction = Direction::receive,
                 .peer = peer,
                 .post = posted,
                 .complete = end,
                 .bytes = 4096,
                 .key = key(1 - rank)})
          .half({.direction = Direction::send,
                 .peer = peer,
                 .post = posted + 20,
                 .complete = end,
                 .bytes = 4096,
                 .key = key(rank)});
    }
    job.total_ns = end;
  }
  for (RecordingBuilder& each : job.ranks) each.runs(0, job.total_ns);
  return job;
}

TEST(ReplayOfRequests, a_balanced_job_is_predicted_as_it_turns_out) {
  const Report report = whole_report_on(exchange_by_requests({10'000, 50'000}).ranks);
  ASSERT_TRUE(report.replay) << report.why_no_replay;
  expect_close(total_of(*report.replay, "balanced"), exchange_by_requests({30'000, 30'000}).total_ns, 0.02);
}

TEST_P(Replay, kernels_of_another_length_are_predicted_as_the_changed_job_turns_out) {
  const Simulated job = simulate(model());
  const Report report = report_on(
      job.ranks,
      {.whole_run = true, .what_if = {{"up*", 0.5}, {"update", 0}, {"update", 0, 1'000}, {"nosuch", 0}}});
  ASSERT_TRUE(report.replay);
  for (const double factor : {0.5, 0.0}) {
    Model changed = model();
    for (std::uint64_t& each : changed.kernel_ns) {
      each = static_cast<std::uint64_t>(static_cast<double>(each) * factor);
    }
    expect_close(total_of(*report.replay, factor == 0 ? "kernels:update=0" : "kernels:up*=0.5"),
                 simulate(changed).total_ns, 0.02);
  }
  EXPECT_EQ(report.replay->what_if.back().what, "kernels:update=0") << "the rest has no answer";
  EXPECT_EQ(report.replay->not_answered,
            (std::vector<std::string>{"no kernel on stream 1000 has a name that matches \"update\"",
                                      "no kernel has a name that matches \"nosuch\""}));
}

TEST_P(Replay, efficiencies_are_products_and_what_the_simulator_lost) {
  const Model made = model();
  const Simulated job = simulate(made);
  const Report report = whole_report_on(job.ranks);
  ASSERT_TRUE(report.replay);
  const EfficiencyFigures& host = report.replay->efficiency;
  EXPECT_NEAR(host.parallel, host.load_balance * host.communication, 1e-12);
  EXPECT_NEAR(host.communication, host.serialisation * host.transfer, 1e-12);
  Model free = made;
  free.wire_ns = free.reduction_ns = 0;
  EXPECT_NEAR(host.transfer, static_cast<double>(simulate(free).total_ns) / static_cast<double>(job.total_ns),
              0.01);
  ASSERT_TRUE(report.replay->gpu_efficiency);
  EXPECT_NEAR(report.replay->gpu_efficiency->load_balance, 110.0 / 130.0, 1e-6);
  EXPECT_DOUBLE_EQ(report.replay->gpu_efficiency->communication, 1.0);
  EXPECT_NEAR(report.replay->gpu_efficiency->orchestration,
              static_cast<double>(made.steps * 130'000) / static_cast<double>(job.total_ns), 1e-6);
}

TEST_P(Replay, the_longest_path_is_as_long_as_the_run_and_goes_through_the_slowest_rank) {
  const Simulated job = simulate(model());
  const Report report = whole_report_on(job.ranks);
  ASSERT_TRUE(report.replay);
  const PathFigures& path = report.replay->path;
  EXPECT_EQ(path.kernels_ns + path.launch_ns + path.host_code_ns + path.communication_ns, job.total_ns);
  ASSERT_FALSE(path.ranks.empty());
  EXPECT_EQ(path.ranks.front().first, 1);
  ASSERT_FALSE(path.calls.empty());
  EXPECT_EQ(path.calls.front().first, GetParam() ? "MPI_Allreduce at 0x20" : "MPI_Sendrecv at 0x10");
}

/// Rank 1 waits from 10 on for rank 0, which begins at 300 only.
TEST(ReplayOfALateBegin, is_a_part_of_the_longest_path) {
  const auto barrier = [](std::int32_t rank, std::uint64_t begin) {
    return RecordingBuilder(rank, 2).call(
        {.function = "MPI_Barrier", .begin = begin, .end = 400, .call_site = 0x10, .collective_ordinal = 1});
  };
  const Report report = whole_report_on(
      {barrier(0, 320).kernel(350, 351).runs(300, 1000), barrier(1, 10).kernel(5, 6).runs(0, 1000)});
  ASSERT_TRUE(report.replay) << report.why_no_replay;
  const PathFigures& path = report.replay->path;
  EXPECT_EQ(path.first_rank, 0);
  EXPECT_EQ(path.before_steps_ns, 300u);
  EXPECT_EQ(
      path.before_steps_ns + path.kernels_ns + path.launch_ns + path.host_code_ns + path.communication_ns,
      report.replay->replayed_ns);
  EXPECT_NE(to_text(report, {.all = true}).find("30.0 % before rank 0 began"), std::string::npos)
      << to_text(report, {});
}

TEST(ReplayOfOverlap, hidden_messages_are_worth_nothing) {
  Model hidden;
  hidden.kernel_ns = {500'000, 500'000};
  hidden.overlaps = true;
  hidden.reduction_ns = 0;
  const Simulated job = simulate(hidden);
  const Report report = whole_report_on(job.ranks);
  ASSERT_TRUE(report.replay);
  expect_close(total_of(*report.replay, "free_communication"), job.total_ns, 0.001);
  EXPECT_EQ(report.replay->path.calls.size(), 0u);
  EXPECT_NEAR(report.replay->efficiency.parallel, 1.0, 0.01);
}

TEST(ReplayOfRandomJobs, predictions_agree_with_the_changed_jobs) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    Model made;
    for (std::size_t rank = 0; rank < 1 + random() % 5; ++rank) {
      made.kernel_ns.push_back(50'000 + random() % 200'000);
    }
    made.wire_ns = random() % 150'000;
    made.reduction_ns = random() % 60'000;
    made.host_ns = random() % 30'000;
    made.overlaps = random() % 2 == 0;
    const Simulated job = simulate(made);
    const Report report = whole_report_on(job.ranks);
    ASSERT_TRUE(report.replay);
    EXPECT_EQ(report.replay->replayed_ns, job.total_ns) << round;
    Model free = made;
    free.wire_ns = free.reduction_ns = 0;
    const std::uint64_t predicted_ns = total_of(*report.replay, "free_communication");
    expect_close(predicted_ns, simulate(free).total_ns, 0.01);
    EXPECT_LE(predicted_ns, job.total_ns);
  }
}

/// Half of the steps go by one transport and half by another: each is predicted from the other half's speed.
TEST_P(Replay, another_transport_is_predicted_as_the_changed_job_turns_out) {
  Model mixed = model();
  mixed.staged_wire_ns = 150'000;
  const Simulated job = simulate(mixed);
  const Report report = whole_report_on(job.ranks);
  ASSERT_TRUE(report.replay);
  EXPECT_EQ(report.replay->replayed_ns, job.total_ns);
  Model all_peer = mixed;
  all_peer.staged_wire_ns = all_peer.wire_ns;
  expect_close(total_of(*report.replay, "straight"), simulate(all_peer).total_ns, 0.01);
  Model all_staged = mixed;
  all_staged.wire_ns = all_staged.staged_wire_ns;
  expect_close(total_of(*report.replay, "staged_instead_of_peer"), simulate(all_staged).total_ns, 0.01);
  EXPECT_GT(total_of(*report.replay, "staged_instead_of_peer"), job.total_ns);
  EXPECT_TRUE(std::none_of(report.replay->what_if.begin(), report.replay->what_if.end(),
                           [](const WhatIfFigures& each) { return each.what == "peer_instead_of_staged"; }))
      << "is what `straight` says";
}

TEST_P(Replay, no_message_is_predicted_from_lists_that_went_as_bitmaps) {
  Model mixed = model();
  mixed.staged_wire_ns = 10'000;
  mixed.staged_packed_words = 64;
  const Report report = whole_report_on(simulate(mixed).ranks);
  ASSERT_TRUE(report.replay);
  EXPECT_TRUE(std::none_of(report.replay->what_if.begin(), report.replay->what_if.end(),
                           [](const WhatIfFigures& each) { return each.what == "staged_instead_of_peer"; }));
}

TEST_P(Replay, a_slower_direct_transport_is_no_gain_and_still_predicted) {
  Model mixed = model();
  mixed.wire_ns = 200'000;
  mixed.staged_wire_ns = 50'000;
  const Report report = whole_report_on(simulate(mixed).ranks);
  ASSERT_TRUE(report.replay);
  Model all_peer = mixed;
  all_peer.staged_wire_ns = all_peer.wire_ns;
  expect_close(total_of(*report.replay, "peer_instead_of_staged"), simulate(all_peer).total_ns, 0.01);
  EXPECT_TRUE(std::none_of(report.replay->what_if.begin(), report.replay->what_if.end(),
                           [](const WhatIfFigures& each) { return each.what == "straight"; }));
}

/// A kernel on one stream, and one on another that is longer and goes on while the host exchanges what the
/// first one made; in the next phase, the first waits for the longer one by an event. So the Ising example
/// does it.
Simulated two_streams(std::uint64_t message_ns) {
  Simulated result;
  RecordingBuilder& rank = result.ranks.emplace_back(0, 1);
  constexpr std::uint64_t phases = 12;
  std::uint64_t host = 0;
  std::uint64_t first_end = 0;
  std::uint64_t second_end = 0;
  std::uint32_t correlation = 0;
  const auto launch = [&](std::uint32_t stream, std::uint64_t begin, std::uint64_t end) {
    trace::DeviceActivity kernel{};
    kernel.begin_ns = testing::origin_ns + begin;
    kernel.end_ns = testing::origin_ns + end;
    kernel.name = rank.text("update");
    kernel.stream = stream;
    kernel.correlation = ++correlation;
    kernel.kind = trace::RecordKind::kernel;
    rank.raw(kernel);
    return end;
  };
  const auto synchronise = [&](const char* what, std::uint64_t begin, std::uint64_t end) {
    trace::CudaSynchronisation call{};
    call.begin_ns = testing::origin_ns + begin;
    call.end_ns = testing::origin_ns + end;
    call.what = rank.text(what);
    call.stream = 1;
    call.correlation = ++correlation;
    call.kind = trace::RecordKind::cuda_synchronisation;
    rank.raw(call);
    return end;
  };
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    host += 10'000;
    synchronise("stream wait event", host, host + 500);
    const std::uint64_t first_begin = std::max({host + 1'000, first_end, second_end});
    const std::uint64_t second_begin = std::max(host + 2'000, second_end);
    first_end = launch(1, first_begin, first_begin + 30'000);
    second_end = launch(2, second_begin, second_begin + 100'000);
    host = synchronise("stream", host + 3'000, std::max(first_end, host + 3'000));
    const std::uint64_t exchanged = host + message_ns;
    rank.call(
        {.function = "MPI_Sendrecv", .begin = host, .end = exchanged, .bytes = 8192, .call_site = 0x10});
    for (const Direction direction : {Direction::send, Direction::receive}) {
      rank.half({.direction = direction,
                 .peer = 0,
                 .post = host,
                 .complete = exchanged,
                 .bytes = 4096,
                 .key = (std::uint64_t{1} << 40) | (phase + 1)});
    }
    host = exchanged;
  }
  result.total_ns = synchronise("context", host + 1'000, std::max({first_end, second_end, host + 1'000}));
  rank.runs(0, result.total_ns);
  return result;
}

TEST(ReplayOfStreams, kernels_wait_for_those_of_other_streams_as_their_events_say) {
  const Simulated job = two_streams(200'000);
  const Report report = whole_report_on(job.ranks);
  ASSERT_TRUE(report.replay);
  EXPECT_EQ(report.replay->replayed_ns, job.total_ns);
  EXPECT_EQ(report.replay->edges_left_out, 0u);
  expect_close(total_of(*report.replay, "free_communication"), two_streams(0).total_ns, 0.02);
}

TEST(ReplayOfStreams, a_message_that_the_other_stream_hides_is_worth_nothing) {
  const Simulated job = two_streams(50'000);
  const Report report = whole_report_on(job.ranks);
  ASSERT_TRUE(report.replay);
  EXPECT_EQ(report.replay->replayed_ns, job.total_ns);
  expect_close(total_of(*report.replay, "free_communication"), two_streams(0).total_ns, 0.02);
}

TEST(ReplayOfDamage, a_missing_rank_and_impossible_times_end_with_figures) {
  Model made;
  made.kernel_ns = {100'000, 130'000, 90'000};
  Simulated job = simulate(made);
  job.ranks.erase(job.ranks.begin() + 1);
  const Report missing = whole_report_on(job.ranks);
  ASSERT_TRUE(missing.replay);
  EXPECT_EQ(missing.replay->replayed_ns, missing.replay->observed_ns);

  // received long before it was sent: the edge is left out and counted
  const Report reversed = whole_report_on(
      {RecordingBuilder(0, 2)
           .kernel(0, 1)
           .call({.function = "MPI_Recv", .begin = 100, .end = 200, .bytes = 64})
           .half({.direction = Direction::receive, .peer = 1, .post = 100, .complete = 200, .bytes = 64}),
       RecordingBuilder(1, 2)
           .kernel(0, 1)
           .call({.function = "MPI_Send", .begin = 700, .end = 710, .bytes = 64})
           .half({.direction = Direction::send, .peer = 0, .post = 700, .complete = 710, .bytes = 64})});
  ASSERT_TRUE(reversed.replay);
  EXPECT_EQ(reversed.replay->replayed_ns, reversed.replay->observed_ns);
}

/// Two messages of 4,096 bytes between devices: one staged in 400, one by `other` in 100.
Report report_on_staged_and(trace::TransportKind other) {
  const auto receive = [](RecordingBuilder& rank, std::uint64_t begin, std::uint64_t end, std::uint64_t key,
                          trace::TransportKind transport) {
    rank.call({.function = "MPI_Recv", .begin = begin, .end = end, .bytes = 4096, .call_site = 0x10})
        .half({.direction = Direction::receive,
               .peer = 1,
               .post = begin,
               .complete = end,
               .bytes = 4096,
               .key = key,
               .buffer = trace::BufferKind::device})
        .transfer({.begin = begin,
                   .end = end,
                   .bytes = 4096,
                   .key = key,
                   .transport = transport,
                   .reason = "as asked"});
  };
  RecordingBuilder first(0, 2);
  receive(first.kernel(0, 1), 1000, 1400, 1, trace::TransportKind::staged);
  receive(first, 1410, 1510, 2, other);
  RecordingBuilder second(1, 2);
  for (const std::uint64_t key : {1U, 2U}) {
    second.half({.direction = Direction::send,
                 .peer = 0,
                 .post = 900 + key,
                 .complete = 950 + key,
                 .bytes = 4096,
                 .key = key,
                 .buffer = trace::BufferKind::device});
  }
  return whole_report_on({first.runs(0, 1510), second.kernel(0, 1).runs(0, 1000)});
}

TEST(ReplayOfStaging, what_goes_through_host_memory_is_predicted_at_the_speed_of_what_goes_straight) {
  const Report report = report_on_staged_and(trace::TransportKind::peer);
  ASSERT_TRUE(report.replay);
  EXPECT_EQ(report.replay->observed_ns, 1510u);
  EXPECT_EQ(total_of(*report.replay, "straight"), 1210u);
}

TEST(ReplayOfStaging, what_goes_between_processes_of_a_node_goes_neither_within_one_nor_between_nodes) {
  for (const trace::TransportKind other : {trace::TransportKind::local, trace::TransportKind::network}) {
    const Report report = report_on_staged_and(other);
    ASSERT_TRUE(report.replay);
    for (const WhatIfFigures& each : report.replay->what_if) {
      EXPECT_TRUE(each.what != "straight" && each.what.find("_instead_of_") == std::string::npos)
          << each.what;
    }
    for (const Advice& each : report.advice) {
      EXPECT_EQ(each.text.find("of that size went by"), std::string::npos) << each.text;
    }
  }
}

/// Two messages by `staged` of different sizes, and one by `peer` that is as large as the first.
TEST(ReplayOfStaging, what_none_alike_went_by_stays_as_it_was_and_it_is_said) {
  RecordingBuilder first(0, 2);
  RecordingBuilder second(1, 2);
  std::uint64_t key = 0;
  const auto message = [&](std::uint64_t begin, std::uint64_t end, std::uint64_t bytes,
                           trace::TransportKind transport) {
    ++key;
    first.call({.function = "MPI_Recv", .begin = begin, .end = end, .bytes = bytes, .call_site = 0x10})
        .half({.direction = Direction::receive,
               .peer = 1,
               .post = begin,
               .complete = end,
               .bytes = bytes,
               .key = key,
               .buffer = trace::BufferKind::device})
        .transfer({.begin = begin, .end = end, .bytes = bytes, .key = key, .transport = transport});
    second.half({.direction = Direction::send,
                 .peer = 0,
                 .post = 900 + key,
                 .complete = 950 + key,
                 .bytes = bytes,
                 .key = key,
                 .buffer = trace::BufferKind::device});
  };
  message(1000, 1400, 4096, trace::TransportKind::staged);
  message(1410, 1510, 4096, trace::TransportKind::peer);
  message(2000, 9000, 512, trace::TransportKind::network);
  message(9010, 9510, 3 << 20, trace::TransportKind::staged);
  const Report report =
      whole_report_on({first.kernel(0, 1).runs(0, 9510), second.kernel(0, 1).runs(0, 1000)});
  ASSERT_TRUE(report.replay);
  EXPECT_EQ(total_of(*report.replay, "straight"), 9510u - 300u);
  for (const WhatIfFigures& each : report.replay->what_if) {
    EXPECT_EQ(each.what.find("network"), std::string::npos)
        << "nothing alike went another way: " << each.what;
    if (each.what == "straight") {
      EXPECT_NEAR(each.known_share.value_or(0), 4096.0 / (4096 + 512 + (3 << 20)), 1e-9);
      EXPECT_NE(each.words.find("the speed of the rest is unknown"), std::string::npos) << each.words;
    } else if (each.what == "free_communication") {
      EXPECT_FALSE(each.known_share);
    }
  }
}

}  // namespace
}  // namespace penstock::analysis
