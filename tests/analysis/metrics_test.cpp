// Whole reports from recordings whose figures can be added up by hand. Times are ns.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using trace::Direction;

std::uint64_t of(const TimeByCause& times, Cause cause) {
  return times[static_cast<std::size_t>(cause)];
}

Report report_on(std::initializer_list<RecordingBuilder> ranks, std::optional<std::int32_t> only_rank = {}) {
  const TemporaryDirectory directory;
  for (const RecordingBuilder& each : ranks) {
    each.write(directory.path());
  }
  return analyse(directory.path(), {.only_rank = only_rank});
}

/// Rank 0 receives at 100, its GPU computes until 200; rank 1 sends at 300; the message is there at 350.
RecordingBuilder receiver() {
  return RecordingBuilder(0, 2)
      .kernel(0, 200)
      .half({.direction = Direction::receive, .peer = 1, .post = 100, .complete = 350, .bytes = 64})
      .call({.function = "MPI_Recv", .begin = 100, .end = 350, .bytes = 64, .call_site = 0x40})
      .range("exchange", 50, 400)
      .range("exchange", 60, 90)
      .range("step", 0, 1000);
}
RecordingBuilder sender() {
  return RecordingBuilder(1, 2)
      .kernel(0, 300)
      .half({.direction = Direction::send, .peer = 0, .post = 300, .complete = 310, .bytes = 64})
      .call({.function = "MPI_Send", .begin = 300, .end = 310, .bytes = 64, .call_site = 0x80});
}

TEST(Metrics, exposed_hidden_and_overlap_are_as_defined) {
  const Report report = report_on({receiver(), sender()});
  ASSERT_EQ(report.measure, Measure::exposed_communication);
  const RankFigures& rank = report.ranks.at(0);
  EXPECT_EQ(rank.total_ns, 1000u);
  EXPECT_EQ(rank.kernels_ns, 200u);
  EXPECT_EQ(rank.host_ns, 250u);
  EXPECT_EQ(rank.communication_ns, 250u);
  EXPECT_EQ(rank.exposed_ns, 150u);
  EXPECT_EQ(rank.hidden_ns, 100u);
  EXPECT_EQ(rank.upper_bound_ns, 150u);
  EXPECT_EQ(report.ranks.at(1).exposed_ns, 10u);
}

TEST(Metrics, each_exposed_second_has_one_cause_and_they_add_up) {
  const Report report = report_on({receiver(), sender()});
  EXPECT_EQ(report.counted_ns, 160u);
  EXPECT_EQ(of(report.by_cause, Cause::late_sender), 100u);  // 200 to 300: before, the GPU computed
  EXPECT_EQ(of(report.by_cause, Cause::wire), 60u);
  for (const RankFigures& rank : report.ranks) {
    EXPECT_EQ(rank.counted_ns, rank.exposed_ns);
    EXPECT_EQ(std::accumulate(rank.by_cause.begin(), rank.by_cause.end(), std::uint64_t{0}), rank.exposed_ns);
  }
  const auto sum = [](const auto& rows) {
    std::uint64_t sum_ns = 0;
    for (const auto& row : rows) {
      sum_ns += row.counted_ns;
    }
    return sum_ns;
  };
  EXPECT_EQ(sum(report.call_sites), report.counted_ns);
  EXPECT_EQ(sum(report.peers), report.counted_ns);
  EXPECT_EQ(sum(report.communicators), report.counted_ns);
  EXPECT_EQ(sum(report.functions), report.counted_ns);
}

TEST(Metrics, breakdowns_name_site_peer_communicator_and_function) {
  const Report report = report_on({receiver(), sender()});
  ASSERT_EQ(report.call_sites.size(), 2u);
  EXPECT_EQ(report.call_sites[0].mpi_function, "MPI_Recv");
  EXPECT_EQ(report.call_sites[0].counted_ns, 150u);
  EXPECT_EQ(report.call_sites[0].calls, 1u);
  EXPECT_EQ(report.call_sites[0].main_counterpart, 1);
  EXPECT_EQ(report.peers.at(0).rank, 1);
  EXPECT_EQ(report.communicators.at(0).name, "MPI_COMM_WORLD");
  EXPECT_EQ(report.communicators.at(0).size, 2);
  EXPECT_EQ(report.functions.at(0).mpi_function, "MPI_Recv");
  EXPECT_EQ(report.functions.at(0).bytes, 64u);
}

TEST(Metrics, calls_of_a_rank_that_is_not_counted_are_not_counted) {
  RecordingBuilder without_gpu(1, 2);
  without_gpu.header().features = trace::feature::kernels | trace::feature::ranges;
  without_gpu.half({.direction = Direction::send, .peer = 0, .post = 300, .complete = 310, .bytes = 64})
      .call({.function = "MPI_Send", .begin = 300, .end = 310, .bytes = 64, .call_site = 0x80});
  const Report report = report_on({receiver(), without_gpu});
  ASSERT_EQ(report.counted_ranks, 1u);
  ASSERT_EQ(report.functions.size(), 1u);
  EXPECT_EQ(report.functions[0].mpi_function, "MPI_Recv");
  ASSERT_EQ(report.call_sites.size(), 1u);
  EXPECT_EQ(report.call_sites[0].calls, 1u);
}

TEST(Metrics, a_communicator_has_the_name_that_some_rank_gave_it_later) {
  const auto rank = [](std::int32_t number, const char* later_name) {
    RecordingBuilder builder(number, 2);
    trace::Communicator halves{};
    halves.global_id = 99;
    halves.local_id = 7;
    halves.size = 2;
    halves.kind = trace::RecordKind::communicator;
    builder.raw(halves);
    if (later_name != nullptr) {
      halves.name = builder.text(later_name);
      builder.raw(halves);
    }
    trace::MpiCall call{};
    call.begin_ns = testing::origin_ns + 100;
    call.end_ns = testing::origin_ns + 300;
    call.function = builder.text("MPI_Barrier");
    call.communicator = 7;
    call.peer = -1;
    call.collective_ordinal = 1;
    call.waits = 1;
    call.kind = trace::RecordKind::mpi_call;
    return builder.raw(call);
  };
  for (const Report& report :
       {report_on({rank(0, "halves"), rank(1, nullptr)}), report_on({rank(0, nullptr), rank(1, "halves")})}) {
    ASSERT_EQ(report.communicators.size(), 1u);
    EXPECT_EQ(report.communicators[0].name, "halves");
  }
}

TEST(Metrics, phases_count_what_lies_in_them_once) {
  const Report report = report_on({receiver(), sender()});
  ASSERT_EQ(report.phases.size(), 2u);
  const auto exchange = std::find_if(report.phases.begin(), report.phases.end(),
                                     [](const PhaseFigures& phase) { return phase.name == "exchange"; });
  ASSERT_NE(exchange, report.phases.end());
  EXPECT_EQ(exchange->total_ns, 350u);
  EXPECT_EQ(exchange->counted_ns, 150u);
}

TEST(Metrics, without_kernel_records_communication_is_shown_and_nothing_is_called_exposed) {
  RecordingBuilder blind = receiver();
  blind.header().features &= ~trace::feature::kernels;
  std::snprintf(blind.header().features_note, sizeof blind.header().features_note, "libcupti was not found");
  const Report report = report_on({blind, sender()});
  EXPECT_EQ(report.measure, Measure::communication_time);
  EXPECT_EQ(report.why_not_exposed, "GPU kernels of rank 0 were not recorded: libcupti was not found");
  EXPECT_FALSE(report.ranks.at(0).kernels_known);
  EXPECT_EQ(report.ranks.at(0).counted_ns, 250u);
  EXPECT_EQ(report.counted_ns, 260u);
  EXPECT_EQ(of(report.by_cause, Cause::late_sender), 200u);
}

TEST(Metrics, a_program_that_used_no_gpu_has_communication_time) {
  RecordingBuilder rank(0, 1);
  rank.header().features = trace::feature::kernels;
  const Report report = report_on({rank.call({.function = "MPI_Barrier", .begin = 0, .end = 10})});
  EXPECT_EQ(report.measure, Measure::communication_time);
  EXPECT_EQ(report.why_not_exposed, "the program used no GPU");
}

TEST(Metrics, a_rank_without_gpu_among_others_is_not_counted) {
  RecordingBuilder controller(1, 2);
  controller.header().features = trace::feature::kernels;
  controller.call({.function = "MPI_Recv", .begin = 0, .end = 900});
  const Report report =
      report_on({RecordingBuilder(0, 2).kernel(0, 10).call({.function = "MPI_Send", .begin = 10, .end = 30}),
                 controller});
  EXPECT_EQ(report.measure, Measure::exposed_communication);
  EXPECT_EQ(report.counted_ranks, 1u);
  EXPECT_EQ(report.counted_ns, 20u);
  EXPECT_FALSE(report.ranks.at(1).is_counted);
}

TEST(Metrics, a_killed_rank_is_counted_until_its_last_record) {
  const Report report = report_on({receiver().never_finishes(), sender()});
  EXPECT_FALSE(report.ranks.at(0).finished);
  EXPECT_EQ(report.ranks.at(0).total_ns, 1000u);            // the range that ends at 1000
  EXPECT_EQ(report.ranks.at(0).own_cost_ns, std::nullopt);  // it is written at the end
  const Report shorter = report_on({RecordingBuilder(0, 1)
                                        .kernel(0, 40)
                                        .call({.function = "MPI_Barrier", .begin = 40, .end = 70})
                                        .never_finishes()});
  EXPECT_EQ(shorter.ranks.at(0).total_ns, 70u);
}

TEST(Metrics, the_run_ends_where_finalize_begins) {
  const Report report = report_on({RecordingBuilder(0, 1)
                                       .runs(0, 1000)
                                       .kernel(0, 10)
                                       .call({.function = "MPI_Barrier", .begin = 100, .end = 150})
                                       .call({.function = "MPI_Finalize", .begin = 800, .end = 1100})});
  EXPECT_EQ(report.ranks.at(0).total_ns, 800u);
  EXPECT_EQ(report.counted_ns, 50u);
}

TEST(Metrics, one_rank_alone_is_explained_by_the_others) {
  const Report report = report_on({receiver(), sender()}, 0);
  ASSERT_EQ(report.ranks.size(), 1u);
  EXPECT_EQ(report.counted_ns, 150u);
  EXPECT_EQ(of(report.by_cause, Cause::late_sender), 100u);
}

TEST(Metrics, a_rank_that_has_no_recording_is_refused_by_name) {
  try {
    report_on({receiver(), sender()}, 7);
    FAIL() << "reported";
  } catch (const TraceError& error) {
    EXPECT_NE(std::string(error.what()).find("no recording of rank 7 in it"), std::string::npos);
  }
}

TEST(Metrics, transports_tell_class_count_bytes_speed_and_reason) {
  const auto receive = [](std::uint64_t key) {
    return testing::HalfWords{.direction = Direction::receive,
                              .peer = 1,
                              .post = 0,
                              .complete = 100,
                              .bytes = 4096,
                              .key = key,
                              .buffer = trace::BufferKind::device};
  };
  const Report report = report_on(
      {RecordingBuilder(0, 2)
           .half(receive(1))
           .transfer({.begin = 0, .end = 8, .bytes = 4096, .key = 1, .reason = "peer access"})
           .half(receive(2))
           .transfer({.begin = 0, .end = 16, .bytes = 4096, .key = 2, .reason = "peer access"})
           .half(receive(3))
           .transfer({.begin = 0, .end = 32, .bytes = 4096, .key = 3, .reason = "peer access"})
           .half({.direction = Direction::receive, .peer = 1, .post = 50, .complete = 100, .bytes = 100}),
       RecordingBuilder(1, 2).half({.direction = Direction::send,
                                    .peer = 0,
                                    .post = 60,
                                    .complete = 62,
                                    .bytes = 100,
                                    .buffer = trace::BufferKind::pinned})});
  ASSERT_EQ(report.transports.size(), 2u);
  EXPECT_EQ(report.transports[0].transport, trace::TransportKind::peer);
  EXPECT_EQ(report.transports[0].source, trace::BufferKind::device);
  EXPECT_EQ(report.transports[0].size_limit_bytes, 64u * 1024);
  EXPECT_EQ(report.transports[0].messages, 3u);
  EXPECT_EQ(report.transports[0].bytes, 3u * 4096);
  EXPECT_EQ(report.transports[0].reason, "peer access");
  EXPECT_DOUBLE_EQ(report.transports[0].median_gbps.value_or(0), 256.0);
  EXPECT_EQ(report.transports[1].transport, trace::TransportKind::mpi);
  EXPECT_EQ(report.transports[1].source, trace::BufferKind::pinned);
  EXPECT_EQ(report.transports[1].destination, trace::BufferKind::pageable);
  EXPECT_DOUBLE_EQ(report.transports[1].median_gbps.value_or(0), 2.5);  // 100 bytes from 60 to 100
  EXPECT_EQ(report.transports[0].wire_bytes, 3u * 4096);
  EXPECT_EQ(report.transports[1].wire_bytes, 100u);
}

/// A copy of 16 bytes that Penstock made on one side of a message that the MPI library carried.
trace::Transfer staging_copy(RecordingBuilder& rank, std::uint64_t begin, bool is_of_send) {
  trace::Transfer copy{};
  copy.begin_ns = testing::origin_ns + begin;
  copy.end_ns = copy.begin_ns + 2;
  copy.bytes = 16;
  copy.reason =
      rank.text(is_of_send ? "eager: smaller than 64 bytes" : "the payload came through the MPI library");
  copy.peer = -1;
  copy.source = is_of_send ? trace::BufferKind::device : trace::BufferKind::pageable;
  copy.destination = is_of_send ? trace::BufferKind::pageable : trace::BufferKind::device;
  copy.transport = trace::TransportKind::staged;
  copy.kind = trace::RecordKind::transfer;
  return copy;
}

TEST(Metrics, a_message_that_is_staged_on_both_sides_is_one_with_its_transport_and_the_senders_reason) {
  RecordingBuilder sender(0, 2);
  RecordingBuilder receiver(1, 2);
  for (std::uint64_t thread = 0; thread < 2; ++thread) {  // whose messages overlap
    sender.on_lane(thread);
    receiver.on_lane(thread);
    for (std::uint64_t i = 0; i < 10; ++i) {
      const std::uint64_t at = 10 + i * 20 + thread * 3;
      const testing::HalfWords half{.direction = Direction::send,
                                    .peer = 1,
                                    .post = at,
                                    .complete = at + 8,
                                    .bytes = 16,
                                    .tag = static_cast<std::int32_t>(thread),
                                    .buffer = trace::BufferKind::device};
      sender.raw(staging_copy(sender, at + (thread == 0 ? 5 : 1), true)).half(half);
      testing::HalfWords other = half;
      other.direction = Direction::receive;
      other.peer = 0;
      other.complete = at + 18;
      receiver.raw(staging_copy(receiver, at + 15, false)).half(other);
    }
  }
  const Report report = report_on({sender, receiver});
  ASSERT_EQ(report.transports.size(), 1u);
  const TransportFigures& messages = report.transports[0];
  EXPECT_FALSE(messages.is_part);
  EXPECT_EQ(messages.messages, 20u);
  EXPECT_EQ(messages.bytes, 20u * 16);
  EXPECT_EQ(messages.source, trace::BufferKind::device);
  EXPECT_EQ(messages.destination, trace::BufferKind::device);
  EXPECT_EQ(messages.transport, trace::TransportKind::staged);
  EXPECT_EQ(messages.reason, "eager: smaller than 64 bytes");
  ASSERT_EQ(report.matrix->pairs.size(), 1u);
  EXPECT_EQ(report.matrix->pairs[0].messages, 20u);
  EXPECT_EQ(report.matrix->pairs[0].transport, trace::TransportKind::staged);
}

TEST(Metrics, a_copy_that_another_thread_makes_while_a_message_completes_is_part_of_it_too) {
  RecordingBuilder rank(0, 2);
  rank.half({.direction = Direction::receive,
             .peer = 1,
             .post = 10,
             .complete = 50,
             .bytes = 16,
             .blocking = false,
             .buffer = trace::BufferKind::device})
      .on_lane(1);
  rank.raw(staging_copy(rank, 30, false));
  const Report report = report_on({rank});
  ASSERT_EQ(report.transports.size(), 1u);
  EXPECT_EQ(report.transports[0].messages, 1u);
  EXPECT_EQ(report.transports[0].transport, trace::TransportKind::staged);
}

testing::HalfWords device_send(std::uint64_t post, std::uint64_t complete, std::uint64_t bytes) {
  return {.direction = Direction::send,
          .peer = 1,
          .post = post,
          .complete = complete,
          .bytes = bytes,
          .buffer = trace::BufferKind::device};
}

TEST(Metrics, copies_find_their_messages_although_one_thread_completes_those_of_another) {
  RecordingBuilder rank(0, 2);
  rank.raw(staging_copy(rank, 12, true)).on_lane(1).raw(staging_copy(rank, 22, true));
  rank.half(device_send(10, 50, 16)).half(device_send(20, 30, 16));
  const Report report = report_on({rank});
  ASSERT_EQ(report.transports.size(), 1u);
  EXPECT_EQ(report.transports[0].messages, 2u);
  EXPECT_EQ(report.transports[0].transport, trace::TransportKind::staged);
}

/// As a partitioned message, of which pieces become ready one after the other.
TEST(Metrics, a_message_that_is_staged_in_pieces_is_one_with_its_transport) {
  RecordingBuilder rank(0, 2);
  for (const std::uint64_t at : {11U, 14U, 31U, 34U, 37U, 51U}) rank.raw(staging_copy(rank, at, true));
  rank.half(device_send(10, 25, 32)).half(device_send(30, 45, 48)).half(device_send(50, 65, 32));
  const Report report = report_on({rank});
  ASSERT_EQ(report.transports.size(), 3u);
  std::uint64_t staged = 0;
  for (const TransportFigures& each : report.transports) {
    if (each.transport != trace::TransportKind::staged) continue;
    EXPECT_EQ(each.messages, each.is_part ? 1u : 2u);  // the last copy is half of the last message
    staged += each.messages;
  }
  EXPECT_EQ(staged, 3u);
}

TEST(Metrics, what_moves_within_a_collective_is_no_message) {
  RecordingBuilder rank(0, 2);
  rank.call({.function = "MPI_Bcast", .begin = 10, .end = 50, .bytes = 16, .collective_ordinal = 1});
  rank.raw(staging_copy(rank, 20, false));
  trace::Transfer by_kernel = staging_copy(rank, 30, true);
  by_kernel.transport = trace::TransportKind::fused;
  rank.raw(by_kernel);
  const Report report = report_on({rank});
  ASSERT_EQ(report.transports.size(), 2u);
  for (const TransportFigures& each : report.transports) {
    EXPECT_TRUE(each.is_part);
    EXPECT_EQ(each.messages, 1u);
  }
  EXPECT_FALSE(report.matrix);
}

TEST(Metrics, transports_tell_how_few_bytes_travelled_for_lists_that_went_as_bitmaps) {
  const Report report =
      report_on({RecordingBuilder(0, 1)
                     .transfer({.begin = 0,
                                .end = 8,
                                .bytes = 4096,
                                .reason = "peer access is off; as a bitmap",
                                .packed_words = 50})
                     .transfer({.begin = 10,
                                .end = 20,
                                .bytes = 8192,
                                .reason = "peer access is off; as a bitmap",
                                .packed_words = 100})
                     .transfer({.begin = 20, .end = 36, .bytes = 4096, .reason = "peer access is off"})});
  ASSERT_EQ(report.transports.size(), 2u);
  EXPECT_EQ(report.transports[0].reason, "peer access is off; as a bitmap");
  EXPECT_EQ(report.transports[0].bytes, 4096u + 8192u);
  EXPECT_EQ(report.transports[0].wire_bytes, 4u * (50 + 100));
  EXPECT_EQ(report.transports[1].wire_bytes, 4096u);
}

/// A receive of 4,096 bytes from `post` on, and the transfer that brought them.
RecordingBuilder& receive(RecordingBuilder& rank, std::uint64_t key, std::uint64_t post,
                          std::uint64_t complete, testing::TransferWords transfer) {
  transfer.key = key;
  transfer.bytes = 4096;
  return rank
      .half({.direction = Direction::receive,
             .peer = 1,
             .post = post,
             .complete = complete,
             .bytes = 4096,
             .key = key,
             .buffer = trace::BufferKind::device})
      .transfer(transfer);
}

TEST(Metrics, the_speed_of_a_message_counts_from_when_both_sides_were_ready) {
  RecordingBuilder rank(0, 2);
  receive(rank, 1, 0, 100, {.begin = 10, .end = 100, .bytes = 0, .wait = 74})
      .call({.function = "MPI_Recv", .begin = 0, .end = 100});
  const Report report = report_on({rank});
  ASSERT_EQ(report.transports.size(), 1u);
  EXPECT_DOUBLE_EQ(report.transports[0].median_gbps.value_or(0), 256.0);  // 16 ns, not 90
}

TEST(Metrics, the_speed_of_messages_whose_end_was_perhaps_seen_late_counts_only_if_there_are_no_others) {
  RecordingBuilder late(0, 2);
  receive(late, 1, 0, 500, {.begin = 10, .end = 500, .bytes = 0})
      .call({.function = "MPI_Irecv", .begin = 0, .end = 20, .waits = 0})
      .call({.function = "MPI_Wait", .begin = 490, .end = 500});
  EXPECT_NEAR(report_on({late}).transports.at(0).median_gbps.value_or(0), 4096.0 / 490, 1e-3);
  for (const std::uint64_t key : {2U, 3U}) {
    receive(late, key, 520, 600, {.begin = 536, .end = 552, .bytes = 0});
  }
  receive(late, 4, 20, 500, {.begin = 30, .end = 500, .bytes = 0})
      .call({.function = "MPI_Recv", .begin = 510, .end = 600});
  EXPECT_DOUBLE_EQ(report_on({late}).transports.at(0).median_gbps.value_or(0), 256.0);
}

TEST(Metrics, waits_are_counted_by_the_class_of_the_message_too) {
  RecordingBuilder rank(0, 2);
  rank.kernel(0, 1);
  receive(rank, 1, 100, 200, {.begin = 150, .end = 200, .bytes = 0, .wait = 20})
      .call({.function = "MPI_Recv", .begin = 100, .end = 200});
  const Report report = report_on(
      {rank, RecordingBuilder(1, 2).kernel(0, 1).half(
                 {.direction = Direction::send, .peer = 0, .post = 140, .complete = 145, .key = 1})});
  ASSERT_EQ(report.transports.size(), 1u);
  EXPECT_EQ(report.transports[0].counted_ns, 100u);
  EXPECT_EQ(of(report.transports[0].by_cause, Cause::late_sender), 40u);
  EXPECT_EQ(of(report.transports[0].by_cause, Cause::gpu_not_ready), 20u);
  EXPECT_EQ(of(report.transports[0].by_cause, Cause::wire), 40u);
}

TEST(Metrics, the_messages_inside_a_collective_are_its_transport) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 1)
      .call({.function = "MPI_Allgather", .begin = 100, .end = 200, .bytes = 4096, .collective_ordinal = 1})
      .transfer({.begin = 120, .end = 190, .bytes = 4096, .key = 77, .reason = "peer access"});
  const Report report = report_on({rank});
  ASSERT_EQ(report.transports.size(), 1u);
  EXPECT_EQ(report.transports[0].reason, "peer access");
  EXPECT_EQ(report.transports[0].counted_ns, 100u);
}

TEST(Metrics, unattributed_time_is_named) {
  const Report report = report_on(
      {RecordingBuilder(0, 2)
           .kernel(0, 1)
           .call({.function = "MPI_Win_fence", .begin = 100, .end = 150})
           .half({.direction = Direction::receive, .peer = 1, .post = 200, .complete = 230, .bytes = 64})
           .call({.function = "MPI_Recv", .begin = 200, .end = 230, .bytes = 64})});
  EXPECT_EQ(of(report.by_cause, Cause::unattributed), 80u);
  ASSERT_EQ(report.gaps.size(), 2u);
  EXPECT_EQ(report.gaps[0].gap, Gap::nothing_recorded);
  EXPECT_EQ(report.gaps[0].mpi_function, "MPI_Win_fence");
  EXPECT_EQ(report.gaps[0].counted_ns, 50u);
  EXPECT_EQ(report.gaps[1].gap, Gap::no_partner);
  EXPECT_EQ(report.gaps[1].counted_ns, 30u);
}

TEST(Metrics, a_program_that_was_built_again_after_the_run_is_said) {
  const TemporaryDirectory programs;
  const std::filesystem::path program = programs.path() / "app";
  testing::write_bytes(program, {});  // now, while the recordings of these tests say 2023
  RecordingBuilder rank(0, 1);
  rank.module(program.string(), 0x1000, 0x2000, 0, 0x1000)
      .call({.function = "MPI_Barrier", .begin = 0, .end = 10, .call_site = 0x1800});
  const Report report = report_on({rank});
  ASSERT_EQ(report.flaws.size(), 1u);
  EXPECT_EQ(report.flaws[0].file, program);
  EXPECT_EQ(report.flaws[0].what, "is newer than the recording; its call sites may be named wrongly");
}

TEST(Metrics, a_program_that_is_another_build_now_is_said_once_and_names_nothing) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const trace::ModuleBuild other{trace::BuildBy::build_id, 20, {1, 2, 3}};
  std::vector<RecordingBuilder> ranks;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    ranks.emplace_back(rank, 2);
    ranks.back()
        .module(program.string(), 0x1000, 0x9000000, 0, 0x1000, other)
        .call({.function = "MPI_Barrier", .begin = 0, .end = 10, .call_site = 0x1800})
        .call({.function = "MPI_Barrier", .begin = 20, .end = 30, .call_site = 0x2800});
  }
  const Report report = report_on({ranks[0], ranks[1]});
  ASSERT_EQ(report.flaws.size(), 1u) << "and not that it is newer";
  EXPECT_EQ(report.flaws[0].file, program);
  EXPECT_EQ(report.flaws[0].what,
            "has been rebuilt or replaced since the recording, so its functions are not named");
  EXPECT_EQ(report.rebuilt_modules, std::vector<std::string>{program.string()});
  ASSERT_EQ(report.call_sites.size(), 2u);
  for (const CallSiteFigures& site : report.call_sites) {
    EXPECT_TRUE(site.function.empty()) << site.function;
    EXPECT_EQ(site.line, 0);
    EXPECT_EQ(site.module, program);
  }
}

TEST(Metrics, notices_are_counted_by_rank) {
  const Report report = report_on({RecordingBuilder(0, 3).notice("NVTX is off").notice("NVTX is off"),
                                   RecordingBuilder(1, 3).notice("NVTX is off"), RecordingBuilder(2, 3)});
  ASSERT_EQ(report.notices.size(), 1u);
  EXPECT_EQ(report.notices[0].text, "NVTX is off");
  EXPECT_EQ(report.notices[0].ranks, 2u);
}

TEST(Metrics, cost_drops_and_clock_error_stand_with_the_result) {
  RecordingBuilder rank(0, 1);
  rank.header().dropped_records = 3;
  rank.header().dropped_gpu_records = 4;
  rank.header().own_cost_ns = 5;
  rank.header().start_cost_ns = 7;
  rank.header().clock_error_ns = 6;
  RecordingBuilder unknown(0, 1);
  unknown.header().clock_error_ns = trace::clock_error_unknown;
  const Report report = report_on({rank});
  EXPECT_EQ(report.ranks[0].dropped_records, 3u);
  EXPECT_EQ(report.ranks[0].dropped_gpu_records, 4u);
  EXPECT_EQ(report.ranks[0].own_cost_ns, 5u);
  EXPECT_EQ(report.ranks[0].start_cost_ns, 7u);
  EXPECT_EQ(report.ranks[0].finish_cost_ns, std::nullopt) << "as in a recording that is older";
  EXPECT_EQ(report.ranks[0].clock_error_ns, 6u);
  EXPECT_EQ(report_on({unknown}).ranks[0].clock_error_ns, std::nullopt);
}

}  // namespace
}  // namespace penstock::analysis
