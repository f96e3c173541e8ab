#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/export/export.hpp"
#include "tests/analysis/export/perfetto_reader.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::origin_ns;
using testing::PerfettoTrace;
using testing::RecordingBuilder;
using testing::TracedSlice;

class PerfettoExport : public ::testing::Test {
 protected:
  [[nodiscard]] PerfettoTrace exported() const {
    const std::filesystem::path to = directory_.path() / "out.pftrace";
    const auto nobody = [](std::size_t, std::size_t, const std::string&) {};
    outcome_ = exports::export_recording({recording(), exports::Format::perfetto, to, true}, nobody);
    EXPECT_EQ(outcome_.bytes, std::filesystem::file_size(to));
    return testing::read_perfetto(to);
  }
  [[nodiscard]] std::filesystem::path recording() const { return directory_.path() / "recording"; }
  void write(const RecordingBuilder& builder) const {
    std::filesystem::create_directories(recording());
    builder.write(recording());
  }
  mutable exports::Outcome outcome_;

 private:
  testing::TemporaryDirectory directory_;
};

TEST_F(PerfettoExport, calls_of_a_thread_are_slices_with_their_times_and_arguments) {
  write(RecordingBuilder(0, 1)
            .call({.function = "MPI_Bcast", .begin = 100, .end = 250, .bytes = 4096, .peer = 0})
            .call({.function = "MPI_Barrier", .begin = 250, .end = 300}));
  const std::vector<TracedSlice> slices = exported().on("thread 0");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].name, "MPI_Bcast");
  EXPECT_EQ(slices[0].category, "mpi");
  EXPECT_EQ(slices[0].begin_ns, origin_ns + 100);
  EXPECT_EQ(slices[0].end_ns, origin_ns + 250);
  EXPECT_EQ(slices[0].arguments.at("bytes"), "4096");
  EXPECT_EQ(slices[0].arguments.at("peer"), "0");
  EXPECT_EQ(slices[0].arguments.at("communicator"), "MPI_COMM_WORLD");
  EXPECT_FALSE(slices[0].arguments.contains("tag"));
  EXPECT_EQ(slices[1].name, "MPI_Barrier");
  EXPECT_EQ(slices[1].depth, 0u);
}

TEST_F(PerfettoExport, power_and_clocks_of_a_ranks_gpus_are_its_counters) {
  write(RecordingBuilder(0, 1)
            .call({.function = "MPI_Barrier", .begin = 0, .end = 10})
            .gpu_sample({.at = 100, .power_mw = 250'500, .sm_mhz = 1200})
            .gpu_sample({.at = 110, .gpu = "0000:3b:00.0", .power_mw = 80'000, .sm_mhz = 345, .index = 1})
            .gpu_sample({.at = 200, .power_mw = 0, .sm_mhz = 1980}));
  const PerfettoTrace trace = exported();
  std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> values;
  for (const testing::TracedValue& each : trace.values) {
    const testing::TracedTrack& track = trace.tracks.at(each.track);
    EXPECT_EQ(trace.tracks.at(track.parent).name.substr(0, 6), "rank 0");
    values[track.name + " in " + track.unit].emplace_back(each.at_ns - origin_ns, each.value);
  }
  const decltype(values) expected{{"GPU 0 power in W", {{100, 250.5}}},  // later it was not known
                                  {"GPU 0 SM clock in MHz", {{100, 1200}, {200, 1980}}},
                                  {"GPU 1 power in W", {{110, 80}}},
                                  {"GPU 1 SM clock in MHz", {{110, 345}}}};
  EXPECT_EQ(values, expected);
}

TEST_F(PerfettoExport, ranks_are_processes_and_lanes_their_threads) {
  write(RecordingBuilder(0, 2).call({.function = "MPI_Barrier", .begin = 0, .end = 10}));
  write(RecordingBuilder(1, 2)
            .call({.function = "MPI_Barrier", .begin = 0, .end = 10})
            .on_lane(1)
            .call({.function = "MPI_Barrier", .begin = 20, .end = 30}));
  const PerfettoTrace trace = exported();
  std::map<std::int32_t, std::string> processes;
  std::map<std::int32_t, std::vector<std::int32_t>> threads;
  for (const auto& [uuid, track] : trace.tracks) {
    if (track.thread != 0) {
      EXPECT_EQ(trace.tracks.at(track.parent).process, track.process);
      threads[track.process].push_back(track.thread);
    } else if (track.process != 0) {
      processes[track.process] = track.name;
    }
  }
  EXPECT_EQ(processes,
            (std::map<std::int32_t, std::string>{{1, "rank 0 on node01"}, {2, "rank 1 on node01"}}));
  EXPECT_EQ(threads[1].size(), 1u);
  EXPECT_EQ(threads[2].size(), 2u);
  EXPECT_EQ(trace.realtime_ns - trace.monotonic_ns, 1'700'000'000'000'000'000u);
}

TEST_F(PerfettoExport, a_message_flows_from_the_senders_post_to_the_receivers_completion) {
  write(RecordingBuilder(0, 2)
            .call({.function = "MPI_Isend", .begin = 100, .end = 120, .waits = 0})
            .half({.direction = trace::Direction::send,
                   .peer = 1,
                   .post = 100,
                   .complete = 480,
                   .bytes = 64,
                   .blocking = false,
                   .tag = 7})
            .call({.function = "MPI_Wait", .begin = 400, .end = 500}));
  write(RecordingBuilder(1, 2)
            .call({.function = "MPI_Recv", .begin = 50, .end = 450})
            .half({.direction = trace::Direction::receive,
                   .peer = 0,
                   .post = 50,
                   .complete = 450,
                   .bytes = 64,
                   .tag = 7}));
  const PerfettoTrace trace = exported();
  const TracedSlice *sent = nullptr, *received = nullptr, *in_flight = nullptr;
  for (const TracedSlice& slice : trace.slices) {
    if (slice.name == "send to 1") (slice.is_instant ? sent : in_flight) = &slice;
    if (slice.name == "received from 0") received = &slice;
  }
  ASSERT_TRUE(sent != nullptr && received != nullptr && in_flight != nullptr);
  EXPECT_EQ(sent->begin_ns, origin_ns + 100);
  EXPECT_EQ(sent->depth, 1u) << "inside of MPI_Isend";
  EXPECT_EQ(received->begin_ns, origin_ns + 450);
  EXPECT_EQ(received->depth, 1u) << "inside of MPI_Recv";
  ASSERT_EQ(sent->flows_begun.size(), 1u);
  EXPECT_EQ(received->flows_ended, sent->flows_begun);
  EXPECT_EQ(received->arguments.at("tag"), "7");
  EXPECT_EQ(received->arguments.at("transport"), "mpi");
  EXPECT_EQ(trace.tracks.at(in_flight->track).name, "non-blocking operations");
  EXPECT_EQ(in_flight->begin_ns, origin_ns + 100);
  EXPECT_EQ(in_flight->end_ns, origin_ns + 480);
}

TEST_F(PerfettoExport, a_non_blocking_collective_is_in_flight_until_it_is_complete) {
  write(RecordingBuilder(0, 1).runs(0, 1000).operation(
      {.function = "MPI_Iallreduce", .post = 100, .complete = 300, .collective_ordinal = 1}));
  const PerfettoTrace trace = exported();
  const auto found = std::find_if(trace.slices.begin(), trace.slices.end(),
                                  [](const TracedSlice& slice) { return slice.name == "MPI_Iallreduce"; });
  ASSERT_NE(found, trace.slices.end());
  EXPECT_EQ(trace.tracks.at(found->track).name, "non-blocking operations");
  EXPECT_EQ(found->begin_ns, origin_ns + 100);
  EXPECT_EQ(found->end_ns, origin_ns + 300);
}

TEST_F(PerfettoExport, messages_without_a_key_have_flows_of_their_own) {
  RecordingBuilder sender(0, 2);
  RecordingBuilder receiver(1, 2);
  for (const std::uint64_t at : {100U, 100U, 100U}) {
    sender.half(
        {.direction = trace::Direction::send, .peer = 1, .post = at, .complete = 200, .blocking = false});
    receiver.half({.direction = trace::Direction::receive, .peer = 0, .post = at, .complete = 300});
  }
  receiver.half({.direction = trace::Direction::receive, .peer = 0, .post = 300, .complete = 400});
  write(sender);
  write(receiver);
  std::vector<std::uint64_t> begun;
  std::vector<std::uint64_t> ended;
  for (const TracedSlice& slice : exported().slices) {
    begun.insert(begun.end(), slice.flows_begun.begin(), slice.flows_begun.end());
    ended.insert(ended.end(), slice.flows_ended.begin(), slice.flows_ended.end());
  }
  std::sort(begun.begin(), begun.end());
  std::sort(ended.begin(), ended.end());
  EXPECT_EQ(begun.size(), 3u);
  EXPECT_EQ(std::unique(begun.begin(), begun.end()), begun.end());
  EXPECT_EQ(begun, ended) << "a receive whose sender is missing has no flow";
}

TEST_F(PerfettoExport, a_message_tells_the_transport_that_moved_it_and_why) {
  constexpr std::uint64_t key = (1ull << 40) | 5;
  write(RecordingBuilder(0, 2).half({.direction = trace::Direction::send,
                                     .peer = 1,
                                     .post = 100,
                                     .complete = 400,
                                     .key = key,
                                     .buffer = trace::BufferKind::device}));
  write(RecordingBuilder(1, 2)
            .half({.direction = trace::Direction::receive,
                   .peer = 0,
                   .post = 50,
                   .complete = 450,
                   .key = key,
                   .buffer = trace::BufferKind::managed})
            .transfer({.begin = 200, .end = 400, .bytes = 64, .key = key, .reason = "NVLink", .wait = 30}));
  const PerfettoTrace trace = exported();
  const auto received = std::find_if(trace.slices.begin(), trace.slices.end(), [](const TracedSlice& slice) {
    return slice.name == "received from 0";
  });
  ASSERT_NE(received, trace.slices.end());
  EXPECT_EQ(received->arguments.at("transport"), "peer");
  EXPECT_EQ(received->arguments.at("reason"), "NVLink");
  EXPECT_EQ(received->arguments.at("peer buffer"), "device");
  const std::vector<TracedSlice> transfers = trace.on("transfers");
  ASSERT_EQ(transfers.size(), 1u);
  EXPECT_EQ(transfers[0].name, "peer");
  EXPECT_EQ(transfers[0].arguments.at("wait ns"), "30");
}

TEST_F(PerfettoExport, kernels_lie_on_their_stream_by_their_readable_name) {
  write(RecordingBuilder(0, 1)
            .kernel(100, 200, "_Z7stencilIdEvPT_i")
            .kernel(150, 300, "gather")
            .kernel(300, 400, "penstock_copy", true));
  const std::vector<TracedSlice> slices = exported().on("GPU 0 stream 0");
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_TRUE(std::any_of(slices.begin(), slices.end(), [](const TracedSlice& slice) {
    return slice.name == "stencil<double>" && slice.category == "kernel" && slice.begin_ns == origin_ns + 100;
  }));
  EXPECT_TRUE(std::any_of(slices.begin(), slices.end(), [](const TracedSlice& slice) {
    return slice.name == "penstock_copy" && slice.category == "penstock";
  }));
  for (const TracedSlice& slice : slices)
    EXPECT_EQ(slice.depth, 0u) << "those that overlap have tracks beside";
}

TEST_F(PerfettoExport, hosts_are_put_on_one_axis_by_their_system_clocks) {
  RecordingBuilder other(1, 2);
  other.header().host_name[5] = '2';
  other.header().realtime_offset_ns += 5000;  // its monotonic clock is 5 µs behind
  write(RecordingBuilder(0, 2).call({.function = "MPI_Barrier", .begin = 7000, .end = 8000}));
  write(other.call({.function = "MPI_Barrier", .begin = 2000, .end = 3000}));
  const std::vector<TracedSlice> slices = exported().on("thread 0");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].begin_ns, slices[1].begin_ns);
  ASSERT_EQ(outcome_.notes.size(), 1u);
  EXPECT_NE(outcome_.notes[0].find("2 hosts"), std::string::npos);
}

TEST_F(PerfettoExport, a_trace_that_is_too_large_for_the_viewer_is_said_with_its_size) {
  EXPECT_EQ(exports::viewer_note("out.pftrace", 3'900'000'000), "");
  const std::string note = exports::viewer_note("out.pftrace", 5ull << 30);
  EXPECT_NE(note.find("out.pftrace has 5 GiB"), std::string::npos) << note;
}

TEST_F(PerfettoExport, names_that_are_no_text_come_out_as_text) {
  write(RecordingBuilder(0, 1)
            .kernel(0, 10, "bad \xff\xfe name")
            .range(std::string_view("nul\0 and \x1b[31m", 14), 20, 30));
  const PerfettoTrace trace = exported();  // the reader refuses what is no UTF-8
  EXPECT_EQ(trace.on("GPU 0 stream 0").at(0).name, "bad \xef\xbf\xbd\xef\xbf\xbd name");
  EXPECT_EQ(trace.on("thread 0").at(0).name, "nul\xef\xbf\xbd and \xef\xbf\xbd[31m");
}

TEST_F(PerfettoExport, a_recording_with_flipped_bits_becomes_a_trace_that_can_be_read) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    RecordingBuilder builder(0, 2);
    for (std::uint64_t i = 0; i < 40; ++i) {
      builder.call({.function = "MPI_Wait", .begin = 100 * i, .end = 100 * i + 90})
          .half({.direction = trace::Direction::receive,
                 .peer = 1,
                 .post = 100 * i + 10,
                 .complete = 100 * i + 80,
                 .blocking = i % 2 == 0})
          .transfer({.begin = 100 * i, .end = 100 * i + 50, .bytes = 8, .key = i})
          .kernel(100 * i, 100 * i + 99)
          .range("phase", 100 * i, 100 * i + 95);
    }
    std::vector<std::byte> bytes = builder.bytes();
    const std::size_t written_bytes = trace::file_header_bytes + 200 * trace::record_bytes;  // or more
    for (int flip = 0; flip < 20; ++flip) {
      // the magic number and the sizes stay, else nothing is read at all
      const std::size_t at = 32 + random() % (written_bytes - 32);
      bytes[at] ^= std::byte(1 << random() % 8);
    }
    std::filesystem::create_directories(recording());
    testing::write_bytes(recording() / "rank-0.penstock", bytes);
    EXPECT_NO_THROW((void)exported()) << "round " << round;
  }
}

}  // namespace
}  // namespace penstock::analysis
