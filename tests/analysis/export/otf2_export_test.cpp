#include <gtest/gtest.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <random>

#include "analysis/export/export.hpp"
#include "tests/analysis/export/otf2_reader.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::ArchivedEvent;
using testing::ArchivedLocation;
using testing::origin_ns;
using testing::Otf2Archive;
using testing::RecordingBuilder;

class Otf2Export : public ::testing::Test {
 protected:
  void write(const RecordingBuilder& builder) const {
    std::filesystem::create_directories(recording());
    builder.write(recording());
  }
  [[nodiscard]] std::filesystem::path recording() const { return directory_.path() / "recording"; }
  [[nodiscard]] Otf2Archive exported() const {
    const auto nobody = [](std::size_t, std::size_t, const std::string&) {};
    (void)exports::export_recording({recording(), exports::Format::otf2, directory_.path() / "archive", true},
                                    nobody);
    Otf2Archive archive = testing::read_otf2(directory_.path() / "archive");
    archive.require_sound();
    return archive;
  }
  static std::vector<std::string> kinds_of(const ArchivedLocation& location) {
    std::vector<std::string> kinds;
    for (const ArchivedEvent& event : location.events) kinds.push_back(event.kind);
    return kinds;
  }
  static const ArchivedEvent& event(const Otf2Archive& archive, std::uint64_t location,
                                    const std::string& kind) {
    const std::vector<ArchivedEvent>& events = archive.locations.at(location).events;
    const auto found = std::find_if(events.begin(), events.end(),
                                    [&kind](const ArchivedEvent& each) { return each.kind == kind; });
    EXPECT_NE(found, events.end()) << kind;
    static const ArchivedEvent none;
    return found == events.end() ? none : *found;
  }

 private:
  testing::TemporaryDirectory directory_;
};

TEST_F(Otf2Export, calls_are_regions_of_their_role_in_the_ranges_of_their_thread) {
  write(RecordingBuilder(0, 1)
            .range("step", 100, 400)
            .call({.function = "MPI_Waitall", .begin = 150, .end = 250})
            .call({.function = "MPI_Comm_rank", .begin = 250, .end = 260, .waits = 0}));
  const Otf2Archive archive = exported();
  const ArchivedLocation& thread = archive.locations.at(0);
  EXPECT_EQ(thread.name, "thread 0");
  EXPECT_EQ(thread.group, "rank 0");
  EXPECT_EQ(thread.type, OTF2_LOCATION_TYPE_CPU_THREAD);
  ASSERT_EQ(thread.events.size(), 6u);
  EXPECT_EQ(thread.events[0].region, "step");
  EXPECT_EQ(thread.events[1].region, "MPI_Waitall");
  EXPECT_EQ(thread.events[1].at, origin_ns + 150);
  EXPECT_EQ(thread.events[2].at, origin_ns + 250);
  EXPECT_EQ(archive.region_roles.at("step"), OTF2_REGION_ROLE_CODE);
  EXPECT_EQ(archive.region_roles.at("MPI_Waitall"), OTF2_REGION_ROLE_POINT2POINT);
  EXPECT_EQ(archive.region_roles.at("MPI_Comm_rank"), OTF2_REGION_ROLE_FUNCTION);
}

TEST_F(Otf2Export, the_clock_counts_nanoseconds_from_the_first_event) {
  write(RecordingBuilder(0, 1)
            .call({.function = "MPI_Barrier", .begin = 100, .end = 200})
            .call({.function = "MPI_Barrier", .begin = 300, .end = 900}));
  const Otf2Archive archive = exported();
  EXPECT_EQ(archive.ticks_per_second, 1'000'000'000u);
  EXPECT_EQ(archive.offset, origin_ns + 100);
  EXPECT_EQ(archive.length, 800u);
  EXPECT_EQ(archive.realtime, origin_ns + 100 + 1'700'000'000'000'000'000);
}

TEST_F(Otf2Export, a_non_blocking_message_has_its_four_events_inside_of_the_calls) {
  write(RecordingBuilder(0, 2)
            .call({.function = "MPI_Isend", .begin = 100, .end = 120, .waits = 0})
            .half({.direction = trace::Direction::send,
                   .peer = 1,
                   .post = 100,
                   .complete = 500,
                   .bytes = 64,
                   .blocking = false,
                   .tag = 7})
            .call({.function = "MPI_Wait", .begin = 400, .end = 500}));
  write(RecordingBuilder(1, 2)
            .call({.function = "MPI_Irecv", .begin = 50, .end = 60, .waits = 0})
            .half({.direction = trace::Direction::receive,
                   .peer = 0,
                   .post = 50,
                   .complete = 450,
                   .bytes = 64,
                   .blocking = false,
                   .tag = 7})
            .call({.function = "MPI_Wait", .begin = 300, .end = 450}));
  const Otf2Archive archive = exported();
  EXPECT_EQ(kinds_of(archive.locations.at(0)),
            (std::vector<std::string>{"enter", "isend", "leave", "enter", "isend complete", "leave"}));
  EXPECT_EQ(kinds_of(archive.locations.at(1)),
            (std::vector<std::string>{"enter", "irecv request", "leave", "enter", "irecv", "leave"}));
  const ArchivedEvent& sent = event(archive, 0, "isend");
  EXPECT_EQ(sent.peer, 1u);
  EXPECT_EQ(sent.tag, 7u);
  EXPECT_EQ(sent.bytes, 64u);
  EXPECT_EQ(sent.communicator, "MPI_COMM_WORLD");
  EXPECT_EQ(sent.at, origin_ns + 100);
  EXPECT_EQ(sent.attributes.at("transport"), "mpi");
  const ArchivedEvent& received = event(archive, 1, "irecv");
  EXPECT_EQ(received.peer, 0u);
  EXPECT_EQ(received.tag, 7u);
  EXPECT_EQ(received.at, origin_ns + 450);
}

TEST_F(Otf2Export, a_blocking_message_is_one_event_on_either_side) {
  write(RecordingBuilder(0, 2)
            .call({.function = "MPI_Send", .begin = 100, .end = 120})
            .half({.direction = trace::Direction::send, .peer = 1, .post = 100, .complete = 120}));
  write(RecordingBuilder(1, 2)
            .call({.function = "MPI_Recv", .begin = 50, .end = 130})
            .half({.direction = trace::Direction::receive, .peer = 0, .post = 50, .complete = 130}));
  const Otf2Archive archive = exported();
  EXPECT_EQ(kinds_of(archive.locations.at(0)), (std::vector<std::string>{"enter", "send", "leave"}));
  EXPECT_EQ(kinds_of(archive.locations.at(1)), (std::vector<std::string>{"enter", "recv", "leave"}));
}

TEST_F(Otf2Export, a_collective_call_tells_its_operation_root_and_bytes) {
  for (const std::int32_t rank : {0, 1}) {
    write(RecordingBuilder(rank, 2)
              .call({.function = "MPI_Bcast",
                     .begin = 10,
                     .end = 20,
                     .bytes = 64,
                     .peer = 1,
                     .collective_ordinal = 1})
              .call({.function = "MPI_Ibcast",
                     .begin = 30,
                     .end = 40,
                     .bytes = 64,
                     .peer = 1,
                     .collective_ordinal = 2,
                     .waits = 0}));
  }
  const Otf2Archive archive = exported();
  EXPECT_EQ(
      kinds_of(archive.locations.at(0)),
      (std::vector<std::string>{"enter", "collective begin", "collective end", "leave", "enter", "leave"}))
      << "a non-blocking one is not complete when its call is";
  const ArchivedEvent& end = event(archive, 0, "collective end");
  EXPECT_EQ(end.operation, OTF2_COLLECTIVE_OP_BCAST);
  EXPECT_EQ(end.peer, 1u);
  EXPECT_EQ(end.bytes, 0u);
  EXPECT_EQ(end.received, 64u);
  EXPECT_EQ(event(archive, 1, "collective end").bytes, 64u);
  EXPECT_EQ(archive.region_roles.at("MPI_Bcast"), OTF2_REGION_ROLE_COLL_ONE2ALL);
  EXPECT_EQ(archive.region_roles.at("MPI_Ibcast"), OTF2_REGION_ROLE_COLL_ONE2ALL);
}

TEST_F(Otf2Export, a_rank_is_called_by_its_number_in_the_communicator) {
  for (const std::int32_t rank : {1, 3}) {
    RecordingBuilder builder(rank, 4);
    trace::Communicator odd{};
    odd.global_id = 99;
    odd.local_id = 5;
    odd.name = builder.text("odd ranks");
    odd.members = builder.text("3,1");
    odd.size = 2;
    odd.kind = trace::RecordKind::communicator;
    trace::MessageHalf half{};
    half.post_ns = origin_ns + 10;
    half.complete_ns = origin_ns + 20;
    half.peer = 4 - rank;
    half.communicator = 5;
    half.blocking = 1;
    half.direction = rank == 1 ? trace::Direction::send : trace::Direction::receive;
    half.kind = trace::RecordKind::message_half;
    write(builder.raw(odd).raw(half));
  }
  const Otf2Archive archive = exported();
  EXPECT_EQ(archive.members.at("odd ranks"), (std::vector<std::uint64_t>{3, 1}));
  EXPECT_EQ(archive.members.at("MPI_COMM_WORLD"), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(event(archive, 1, "send").peer, 0u);
  EXPECT_EQ(event(archive, 3, "recv").peer, 1u);
  EXPECT_EQ(event(archive, 3, "recv").communicator, "odd ranks");
  EXPECT_EQ(archive.locations.at(0).name, "not recorded");
  EXPECT_EQ(archive.locations.at(2).group, "rank 2 (not recorded)");
}

TEST_F(Otf2Export, a_stream_is_a_location_of_its_device) {
  write(RecordingBuilder(0, 1)
            .call({.function = "MPI_Barrier", .begin = 0, .end = 10})
            .kernel(100, 200, "_Z7stencilIdEvPT_i")
            .kernel(150, 300, "gather"));
  const Otf2Archive archive = exported();
  ASSERT_EQ(archive.locations.size(), 3u);
  const ArchivedLocation& stream = archive.locations.at(1ull << 32);
  EXPECT_EQ(stream.type, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
  EXPECT_EQ(stream.group, "rank 0 GPU 0");
  EXPECT_EQ(stream.events.at(0).region, "stencil<double>");
  EXPECT_EQ(archive.locations.at(2ull << 32).name, "GPU 0 stream 0 (2)") << "the kernels overlap";
}

TEST_F(Otf2Export, a_rank_that_only_used_its_gpu_has_a_thread_all_the_same) {
  write(RecordingBuilder(0, 1).kernel(100, 200));
  const Otf2Archive archive = exported();
  EXPECT_EQ(archive.locations.at(0).type, OTF2_LOCATION_TYPE_CPU_THREAD);
  EXPECT_EQ(archive.locations.at(1ull << 32).events.size(), 2u);
}

TEST_F(Otf2Export, a_recording_with_flipped_bits_becomes_an_archive_that_can_be_read) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    RecordingBuilder builder(0, 2);
    for (std::uint64_t i = 0; i < 40; ++i) {
      builder
          .call({.function = "MPI_Allreduce",
                 .begin = 100 * i,
                 .end = 100 * i + 90,
                 .collective_ordinal = static_cast<std::uint32_t>(i + 1)})
          .half({.direction = trace::Direction::receive,
                 .peer = 1,
                 .post = 100 * i + 10,
                 .complete = 100 * i + 80,
                 .blocking = i % 2 == 0})
          .kernel(100 * i, 100 * i + 99)
          .range("phase", 100 * i, 100 * i + 95);
    }
    std::vector<std::byte> bytes = builder.bytes();
    const std::size_t written_bytes = trace::file_header_bytes + 160 * trace::record_bytes;  // or more
    for (int flip = 0; flip < 20; ++flip) {
      // the magic number and the sizes stay, else nothing is read at all
      bytes[40 + random() % (written_bytes - 40)] ^= std::byte(1 << random() % 8);
    }
    std::filesystem::create_directories(recording());
    testing::write_bytes(recording() / "rank-0.penstock", bytes);
    EXPECT_NO_THROW((void)exported()) << "round " << round;
  }
}

}  // namespace
}  // namespace penstock::analysis
