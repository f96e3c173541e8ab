#include "analysis/recording/trace_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "analysis/recording/rank_trace.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

/// The flaw that opening `bytes` as a recording throws.
Flaw flaw_of_opening(const std::vector<std::byte>& bytes) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "rank-0.penstock";
  testing::write_bytes(file, bytes);
  try {
    const TraceReader reader(file);
  } catch (const TraceError& error) {
    EXPECT_EQ(error.flaw().file, file);
    EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos);
    return error.flaw();
  }
  ADD_FAILURE() << "opened";
  return {};
}

std::vector<std::byte> bytes_with_header(const std::function<void(trace::FileHeader&)>& change) {
  RecordingBuilder builder(0, 1);
  change(builder.header());
  return builder.bytes();
}

TEST(TraceReader, passes_on_every_record_of_all_lanes) {
  const TemporaryDirectory directory;
  RecordingBuilder builder(0, 1);
  constexpr std::uint32_t many = 10'000;  // three blocks
  for (std::uint32_t i = 0; i < many; ++i) {
    builder.on_lane(i % 2).call({.function = "MPI_Send", .begin = i, .end = i + 1});
  }
  const RankTrace rank = load_rank(builder.write(directory.path()));
  EXPECT_TRUE(rank.flaws.empty());
  EXPECT_EQ(rank.calls.size(), many);
  EXPECT_EQ(rank.record_count, many);
  EXPECT_EQ(rank.strings.at(rank.calls.front().record.function), "MPI_Send");
}

/// Calls with different arguments by turns, on two lanes, in several blocks however they are coded.
RecordingBuilder many_calls(std::uint32_t many) {
  RecordingBuilder builder(0, 1);
  for (std::uint32_t i = 0; i < many; ++i) {
    builder.on_lane(i % 2).call({.function = i % 3 == 0 ? "MPI_Send" : "MPI_Recv",
                                 .begin = 10 * i,
                                 .end = 10 * i + 3 + i % 5,
                                 .bytes = i % 7,
                                 .call_site = i % 11,
                                 .peer = static_cast<std::int32_t>(i % 13)});
  }
  return builder;
}

bool are_equal(const std::vector<Call>& left, const std::vector<Call>& right) {
  return std::equal(
      left.begin(), left.end(), right.begin(), right.end(), [](const Call& one, const Call& other) {
        return one.lane == other.lane && std::memcmp(&one.record, &other.record, sizeof one.record) == 0;
      });
}

TEST(TraceReader, finds_the_same_in_delta_coded_blocks_as_in_plain_ones) {
  const TemporaryDirectory directory;
  constexpr std::uint32_t many = 50'000;
  RecordingBuilder builder = many_calls(many);
  const RankTrace plain = load_rank(builder.write(directory.path()));
  ASSERT_EQ(plain.calls.size(), many);
  const RankTrace coded = load_rank(builder.coded(trace::BlockCoding::delta).write(directory.path()));
  EXPECT_TRUE(coded.flaws.empty());
  EXPECT_GT(coded.header.claimed_blocks, 3u);
  EXPECT_LT(coded.header.claimed_blocks, plain.header.claimed_blocks / 2);
  EXPECT_TRUE(are_equal(plain.calls, coded.calls));
}

TEST(TraceReader, reads_each_earlier_version) {
  const TemporaryDirectory directory;
  RecordingBuilder builder = many_calls(10'000);
  const RankTrace newest = load_rank(builder.write(directory.path()));
  for (std::uint32_t version = trace::oldest_readable_version; version < trace::format_version; ++version) {
    builder.header().version = version;
    const RankTrace rank = load_rank(builder.write(directory.path()));
    EXPECT_TRUE(rank.flaws.empty()) << version;
    EXPECT_TRUE(are_equal(rank.calls, newest.calls)) << version;
  }
}

TEST(TraceReader, joins_the_pieces_of_long_texts) {
  const TemporaryDirectory directory;
  RecordingBuilder builder(0, 1);
  const std::string words(200, 'x');
  const std::uint32_t id = builder.text(words + "end");
  const RankTrace rank = load_rank(builder.write(directory.path()));
  EXPECT_EQ(rank.strings.at(id), words + "end");
  EXPECT_EQ(rank.strings.at(id + 1000), "?");
}

TEST(TraceReader, reads_on_behind_blocks_that_nobody_filled) {
  const TemporaryDirectory directory;
  std::vector<std::byte> bytes =
      RecordingBuilder(0, 1).call({.function = "MPI_Send", .begin = 1, .end = 2}).bytes();
  std::vector<std::byte> with_hole(bytes.begin(), bytes.begin() + trace::file_header_bytes);
  with_hole.resize(with_hole.size() + trace::block_bytes);
  with_hole.insert(with_hole.end(), bytes.begin() + trace::file_header_bytes, bytes.end());
  with_hole.resize(with_hole.size() + trace::block_bytes);
  const auto file = directory.path() / "rank-0.penstock";
  testing::write_bytes(file, with_hole);
  const RankTrace rank = load_rank(file);
  EXPECT_EQ(rank.calls.size(), 1u);
  EXPECT_TRUE(rank.flaws.empty());
}

TEST(TraceReader, refuses_a_missing_file_by_name) {
  try {
    const TraceReader reader("/nowhere/rank-0.penstock");
    FAIL() << "opened";
  } catch (const TraceError& error) {
    EXPECT_STREQ(error.what(), "/nowhere/rank-0.penstock: cannot be opened (No such file or directory)");
  }
}

TEST(TraceReader, refuses_a_directory) {
  EXPECT_THROW(TraceReader("/tmp"), TraceError);
}

TEST(TraceReader, refuses_an_empty_file) {
  const Flaw flaw = flaw_of_opening({});
  EXPECT_EQ(flaw.what, "empty file");
  EXPECT_EQ(flaw.offset_bytes, 0u);
}

TEST(TraceReader, refuses_a_zero_filled_file) {
  EXPECT_EQ(flaw_of_opening(std::vector<std::byte>(400'000)).what, "zero-filled, not a Penstock recording");
}

TEST(TraceReader, refuses_a_wrong_magic_at_byte_0) {
  const Flaw flaw = flaw_of_opening(bytes_with_header([](trace::FileHeader& header) { header.magic ^= 1; }));
  EXPECT_EQ(flaw.what, "not a Penstock recording");
  EXPECT_EQ(flaw.offset_bytes, 0u);
}

TEST(TraceReader, refuses_another_version_and_names_both) {
  const Flaw flaw = flaw_of_opening(bytes_with_header([](trace::FileHeader& header) { header.version = 7; }));
  EXPECT_EQ(flaw.what, "recording of format version 7, this penstock reads versions 1 to 3");
  EXPECT_EQ(flaw.offset_bytes, offsetof(trace::FileHeader, version));
}

TEST(TraceReader, refuses_sizes_of_another_format) {
  EXPECT_EQ(flaw_of_opening(bytes_with_header([](trace::FileHeader& header) {
              header.block_bytes = 1u << 31;
            })).what,
            "sizes in the header are not those of this format");
}

TEST(TraceReader, refuses_a_rank_outside_the_job) {
  EXPECT_EQ(flaw_of_opening(bytes_with_header([](trace::FileHeader& header) { header.world_rank = 1; })).what,
            "rank 1 of 1 ranks is impossible");
}

}  // namespace
}  // namespace penstock::analysis
