// What small messages take of a recording.
#include <gtest/gtest.h>

#include <cstdint>

#include "child_process.hpp"
#include "interpose/record/recorder.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

/// What a rank writes of two small messages of host memory, one sent and one received, in a loop as programs
/// have it. Times are those of a fast MPI library, with some disorder.
class Exchanges {
 public:
  void exchange() {
    const std::int32_t peer = 1 + static_cast<std::int32_t>(round_ % 6);
    const std::uint64_t posted_ns = call("MPI_Irecv", 0x10, peer, 60, 0);
    const std::uint64_t sent_ns = call("MPI_Isend", 0x20, peer, 90, 8);
    const std::uint64_t waits_ns = call("MPI_Waitall", 0x30, -1, 400, 0);
    half(trace::Direction::receive, 0x10, peer, posted_ns, waits_ns + 310);
    half(trace::Direction::send, 0x20, peer, sent_ns, waits_ns + 340);
    ++round_;
  }

 private:
  std::uint64_t call(const char* function, std::uint64_t site, std::int32_t peer, std::uint64_t takes_ns,
                     std::uint64_t bytes) {
    trace::MpiCall call{};
    call.begin_ns = now_ns_;
    call.end_ns = now_ns_ + takes_ns + round_ % 37;
    call.bytes = bytes;
    call.call_site = trace::call_path_bit | site;
    call.function = record::intern(function);
    call.communicator = 1;
    call.peer = peer;
    call.tag = peer < 0 ? -1 : 7;
    call.repeats = 1;
    call.buffer = trace::BufferKind::pageable;
    call.waits = static_cast<std::uint8_t>(peer < 0 ? 1 : 0);
    call.kind = trace::RecordKind::mpi_call;
    record::write(call);
    now_ns_ = call.end_ns + 50;
    return call.begin_ns;
  }
  void half(trace::Direction direction, std::uint64_t site, std::int32_t peer, std::uint64_t posted_ns,
            std::uint64_t completed_ns) {
    trace::MessageHalf half{};
    half.post_ns = posted_ns;
    half.complete_ns = completed_ns + round_ % 41;
    half.bytes = 8;
    half.call_site = trace::call_path_bit | site;
    half.matched_ns = half.complete_ns;
    half.peer = peer;
    half.tag = 7;
    half.communicator = 1;
    half.direction = direction;
    half.buffer = trace::BufferKind::pageable;
    half.kind = trace::RecordKind::message_half;
    record::write(half);
  }

  std::uint64_t round_ = 0;
  std::uint64_t now_ns_ = record::now_ns();
};

TEST(SmallMessages, a_small_message_takes_a_third_of_the_bytes_of_its_five_records) {
  const TemporaryFolder folder;
  constexpr std::uint64_t messages = 20'000;  // each is sent here and received there, or the other way round
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    Exchanges small;
    for (std::uint64_t i = 0; i < messages; ++i) small.exchange();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), 3 * messages);
  EXPECT_EQ(recording.all<trace::MessageHalf>(trace::RecordKind::message_half).size(), 2 * messages);
  std::uint64_t used_bytes = 0;
  for (const test::Block& block : recording.blocks()) used_bytes += block.used_bytes;
  EXPECT_LE(used_bytes / messages, 5 * trace::record_bytes / 3);
  EXPECT_LE(recording.file_bytes() / messages, 5 * trace::record_bytes / 2)
      << "with blocks that are not full";
}

}  // namespace
}  // namespace penstock
