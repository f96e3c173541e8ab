// Recordings that were cut off or damaged anywhere: the analysis ends with a report or a TraceError, never
// otherwise, and says where.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "interpose/record/delta_coding.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

RecordingBuilder small_recording(std::int32_t rank) {
  const std::int32_t peer = 1 - rank;
  RecordingBuilder builder(rank, 2);
  builder.module("/bin/true", 0x1000, 0x2000, 0, 0x1000).notice("a feature is off").range("step", 0, 900);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t begin = i * 40;
    const auto direction = rank == 0 ? trace::Direction::send : trace::Direction::receive;
    builder.kernel(begin, begin + 15)
        .half({.direction = direction,
               .peer = peer,
               .post = begin + 10,
               .complete = begin + 30,
               .key = i % 2 == 0 ? i + 1 : 0})
        .transfer({.begin = begin + 12, .end = begin + 28, .bytes = 4096, .key = i + 1})
        .call({.function = "MPI_Sendrecv",
               .begin = begin + 10,
               .end = begin + 30,
               .bytes = 8,
               .call_site = 0x1800})
        .call({.function = "MPI_Barrier",
               .begin = begin + 31,
               .end = begin + 35,
               .collective_ordinal = static_cast<std::uint32_t>(i + 1)});
  }
  return builder;
}

/// Everything that a user may do with a directory. Returns the report, if there was one.
std::optional<Report> survives(const std::filesystem::path& directory) {
  try {
    Report report = analyse(directory);
    EXPECT_FALSE(to_text(report, {}).empty());
    EXPECT_FALSE(to_json(report).empty());
    std::uint64_t sum_ns = 0;
    for (const std::uint64_t each : report.by_cause) {
      sum_ns += each;
    }
    EXPECT_EQ(sum_ns, report.counted_ns);
    return report;
  } catch (const TraceError& error) {
    EXPECT_FALSE(error.flaw().file.empty());
    return std::nullopt;
  }
}

/// Found by fuzzing.
TEST(DamagedRecording, calls_that_say_they_were_none_are_still_reported) {
  const TemporaryDirectory directory;
  RecordingBuilder rank(0, 1);
  trace::MpiCall call{};
  call.begin_ns = testing::origin_ns + 100;
  call.end_ns = testing::origin_ns + 200;
  call.function = rank.text("MPI_Recv");
  call.waits = 1;
  call.repeats = 0;
  call.kind = trace::RecordKind::mpi_call;
  rank.kernel(0, 1).raw(call).write(directory.path());
  EXPECT_TRUE(survives(directory.path()));
  EXPECT_EQ(analyse(directory.path()).call_sites.size(), 1u);
}

/// Of either coding.
class DamagedBlock : public ::testing::TestWithParam<trace::BlockCoding> {
 protected:
  static std::vector<std::byte> small_file() { return small_recording(0).coded(GetParam()).bytes(); }
  /// The bytes up to the last record or little more; nothing but zeros follow.
  static std::size_t used_bytes() {
    return trace::file_header_bytes + (GetParam() == trace::BlockCoding::plain ? 64 * 150 : 4500);
  }
};
INSTANTIATE_TEST_SUITE_P(Plain, DamagedBlock, ::testing::Values(trace::BlockCoding::plain));
INSTANTIATE_TEST_SUITE_P(Delta, DamagedBlock, ::testing::Values(trace::BlockCoding::delta));

TEST_P(DamagedBlock, cut_off_after_any_record_still_gives_a_report_that_says_where) {
  const TemporaryDirectory directory;
  const std::vector<std::byte> whole = small_file();
  small_recording(1).write(directory.path());
  const auto file = directory.path() / "rank-0.penstock";
  for (std::size_t size = 0; size < whole.size(); size += 64) {
    testing::write_bytes(file, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    const std::optional<Report> report = survives(directory.path());
    ASSERT_TRUE(report) << "cut off at " << size;  // rank 1 is there in any case
    ASSERT_FALSE(report->flaws.empty()) << "cut off at " << size << " and nothing said";
    const bool is_named = std::any_of(report->flaws.begin(), report->flaws.end(), [&](const Flaw& flaw) {
      return flaw.file == file && flaw.offset_bytes.has_value();
    });
    ASSERT_TRUE(is_named) << "cut off at " << size;
    if (size > used_bytes()) size += 64 * 997;  // past the last record nothing changes
  }
}

TEST(DamagedRecording, cut_off_in_the_middle_of_a_record_keeps_what_stands_before_it) {
  const TemporaryDirectory directory;
  std::vector<std::byte> bytes = small_recording(0).bytes();
  const std::size_t records = RecordingBuilder(0, 2).bytes().size();
  bytes.resize(trace::file_header_bytes + 64 * 60 + 17);
  EXPECT_LT(bytes.size(), records);
  const auto file = directory.path() / "rank-0.penstock";
  testing::write_bytes(file, bytes);
  const RankTrace rank = load_rank(file);
  EXPECT_GT(rank.calls.size(), 5u);
  ASSERT_EQ(rank.flaws.size(), 1u);
  EXPECT_EQ(rank.flaws[0].offset_bytes, bytes.size());
  EXPECT_EQ(rank.flaws[0].what, "cut off; what stands before it was used");
}

TEST_P(DamagedBlock, random_bytes_anywhere_never_crash_the_analysis) {
  const TemporaryDirectory directory;
  const std::vector<std::byte> whole = small_file();
  small_recording(1).write(directory.path());
  const auto file = directory.path() / "rank-0.penstock";
  std::mt19937_64 random(20261120);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::byte> bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(used_bytes()));
    for (std::uint64_t flips = 1 + random() % 20; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    testing::write_bytes(file, bytes);
    ASSERT_TRUE(survives(directory.path())) << "round " << round;
  }
}

TEST_P(DamagedBlock, a_record_with_impossible_times_is_left_out_and_named) {
  const TemporaryDirectory directory;
  RecordingBuilder builder(0, 1);
  builder.call({.function = "MPI_Send", .begin = 5, .end = 9});
  trace::MpiCall impossible{};
  impossible.begin_ns = testing::origin_ns + 50;
  impossible.end_ns = testing::origin_ns + 40;
  impossible.kind = trace::RecordKind::mpi_call;
  builder.raw(impossible).call({.function = "MPI_Send", .begin = 60, .end = 70});
  const RankTrace rank = load_rank(builder.coded(GetParam()).write(directory.path()));
  EXPECT_EQ(rank.calls.size(), 2u);
  ASSERT_EQ(rank.flaws.size(), 1u);
  EXPECT_EQ(rank.flaws[0].what, "impossible times");
  EXPECT_EQ(rank.flaws[0].offset_bytes.value_or(0) % (GetParam() == trace::BlockCoding::plain ? 64 : 4), 0u);
}

TEST_P(DamagedBlock, a_record_of_an_unknown_kind_is_left_out_and_named) {
  const TemporaryDirectory directory;
  RecordingBuilder builder(0, 1);
  trace::MpiCall unknown{};
  unknown.kind = static_cast<trace::RecordKind>(200);
  builder.raw(unknown).raw(unknown).call({.function = "MPI_Send", .begin = 60, .end = 70});
  const RankTrace rank = load_rank(builder.coded(GetParam()).write(directory.path()));
  EXPECT_EQ(rank.calls.size(), 1u);
  ASSERT_EQ(rank.flaws.size(), 1u);
  EXPECT_EQ(rank.flaws[0].what, "unknown record kind (2 records were left out)");
}

TEST(DamagedRecording, a_wiped_record_is_told_from_the_end_of_a_block) {
  const TemporaryDirectory directory;
  RecordingBuilder builder(0, 1);
  builder.call({.function = "MPI_Send", .begin = 5, .end = 9})
      .raw(trace::MpiCall{})
      .call({.function = "MPI_Send", .begin = 60, .end = 70});
  const RankTrace rank = load_rank(builder.write(directory.path()));
  EXPECT_EQ(rank.calls.size(), 1u);
  ASSERT_EQ(rank.flaws.size(), 1u);
  EXPECT_EQ(rank.flaws[0].what, "record wiped out; the rest of its block was left out");
}

/// A recording with a delta-coded block of one lane, and where in the file its records begin.
struct DeltaFile {
  std::vector<std::byte> bytes;
  std::vector<std::size_t> records;
};

DeltaFile calls_delta_coded(std::uint64_t calls) {
  RecordingBuilder builder(0, 1);
  for (std::uint64_t i = 0; i < calls; ++i) {
    builder.call({.function = "MPI_Send", .begin = 10 * i, .end = 10 * i + 5});
  }
  DeltaFile file{builder.runs(0, 10 * calls).coded(trace::BlockCoding::delta).bytes(), {}};
  trace::DeltaReader reader;
  const std::byte* at = file.bytes.data() + trace::file_header_bytes + trace::record_bytes;
  do {
    file.records.push_back(static_cast<std::size_t>(at - file.bytes.data()));
  } while (reader.read(at, file.bytes.data() + file.bytes.size()) == trace::DeltaReader::Found::record);
  file.records.pop_back();
  return file;
}

RankTrace load(const std::vector<std::byte>& bytes) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "rank-0.penstock";
  testing::write_bytes(file, bytes);
  return load_rank(file);
}

TEST(DamagedDeltas, a_wiped_head_is_told_from_the_end_of_a_block) {
  DeltaFile file = calls_delta_coded(100);
  const std::size_t wiped = file.records.size() - 50;
  std::memset(file.bytes.data() + file.records[wiped], 0, sizeof(trace::DeltaHead));
  const RankTrace rank = load(file.bytes);
  EXPECT_EQ(rank.calls.size(), 50u);
  ASSERT_EQ(rank.flaws.size(), 1u);
  EXPECT_EQ(rank.flaws[0].what, "record wiped out; the rest of its block was left out");
  EXPECT_EQ(rank.flaws[0].offset_bytes, file.records[wiped]);
}

TEST(DamagedDeltas, what_a_killed_job_had_not_committed_is_no_damage) {
  DeltaFile file = calls_delta_coded(100);
  std::memset(file.bytes.data() + file.records.back(), 0, sizeof(trace::DeltaHead));
  const RankTrace rank = load(file.bytes);
  EXPECT_EQ(rank.calls.size(), 99u);
  EXPECT_TRUE(rank.flaws.empty());
}

TEST(DamagedDeltas, a_head_that_cannot_be_ends_its_block_and_is_named) {
  DeltaFile file = calls_delta_coded(100);
  const std::size_t damaged = file.records.size() - 50;
  file.bytes[file.records[damaged] + offsetof(trace::DeltaHead, kind)] = std::byte{99};
  const RankTrace rank = load(file.bytes);
  EXPECT_EQ(rank.calls.size(), 50u);
  ASSERT_EQ(rank.flaws.size(), 1u);
  EXPECT_EQ(rank.flaws[0].what, "damaged record; the rest of its block was left out");
  EXPECT_EQ(rank.flaws[0].offset_bytes, file.records[damaged]);
}

TEST(DamagedDeltas, a_record_that_would_go_on_behind_its_block_is_named) {
  DeltaFile file = calls_delta_coded(2);
  trace::DeltaHead head;
  std::memcpy(&head, file.bytes.data() + file.records.back(), sizeof head);
  const std::size_t block_end = trace::file_header_bytes + trace::block_bytes;
  std::size_t next = file.records.back() + sizeof head +
                     sizeof(std::uint32_t) * static_cast<std::size_t>(std::popcount(head.changed));
  head.changed = 0;  // the same call again and again
  for (; next + sizeof head < block_end; next += sizeof head) {
    std::memcpy(file.bytes.data() + next, &head, sizeof head);
  }
  head.changed = 1;
  std::memcpy(file.bytes.data() + next, &head, sizeof head);
  const RankTrace rank = load(file.bytes);
  ASSERT_EQ(rank.flaws.size(), 1u);
  EXPECT_EQ(rank.flaws[0].what, "damaged record; the rest of its block was left out");
  EXPECT_EQ(rank.flaws[0].offset_bytes, next);
}

TEST(DamagedDeltas, a_block_of_an_unknown_coding_is_left_out_and_named) {
  DeltaFile file = calls_delta_coded(100);
  file.bytes[trace::file_header_bytes + offsetof(trace::BlockHeader, coding)] = std::byte{7};
  const RankTrace rank = load(file.bytes);
  EXPECT_TRUE(rank.calls.empty());
  ASSERT_EQ(rank.flaws.size(), 1u);
  EXPECT_EQ(rank.flaws[0].what, "coded in an unknown way; the block was left out");
}

}  // namespace
}  // namespace penstock::analysis
