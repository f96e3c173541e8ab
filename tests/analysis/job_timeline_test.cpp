// The timeline of a report's page: what of a job is in it, read back from its document. Times are ns.
#include "analysis/job_timeline/job_timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "analysis/job_timeline/columns.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis::job_timeline {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using Json = nlohmann::json;
using trace::Direction;

Json timeline_of(const std::vector<RecordingBuilder>& ranks, Budget budget = {},
                 const AnalysisOptions& options = {}) {
  const TemporaryDirectory directory;
  for (const RecordingBuilder& each : ranks) {
    each.write(directory.path());
  }
  JobTimeline timeline(budget);
  (void)analyse(directory.path(), options, &timeline);
  return Json::parse(timeline.json());
}

std::vector<std::uint8_t> bytes_of(const std::string& base64) {
  const auto digit = [](char c) -> std::uint32_t {
    if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
    if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a' + 26);
    if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0' + 52);
    return c == '+' ? 62 : 63;
  };
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 3 < base64.size(); i += 4) {
    const std::uint32_t four = digit(base64[i]) << 18 | digit(base64[i + 1]) << 12 |
                               (base64[i + 2] == '=' ? 0 : digit(base64[i + 2]) << 6) |
                               (base64[i + 3] == '=' ? 0 : digit(base64[i + 3]));
    bytes.push_back(static_cast<std::uint8_t>(four >> 16));
    if (base64[i + 2] != '=') bytes.push_back(static_cast<std::uint8_t>(four >> 8));
    if (base64[i + 3] != '=') bytes.push_back(static_cast<std::uint8_t>(four));
  }
  return bytes;
}

std::vector<std::uint64_t> integers_of(const std::string& base64) {
  std::vector<std::uint64_t> integers;
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const std::uint8_t byte : bytes_of(base64)) {
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if (byte < 0x80) {
      integers.push_back(value);
      value = 0;
      shift = 0;
    }
  }
  return integers;
}

struct Piece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string state;
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t peer = -1;
};

std::vector<Piece> pieces_of(const Json& timeline, const Json& track) {
  const std::vector<std::uint64_t> integers = integers_of(track.at("data"));
  const std::vector<std::string> fields = track.at("fields");
  EXPECT_EQ(integers.size(), fields.size() * track.at("pieces").get<std::size_t>());
  std::vector<Piece> pieces;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < integers.size(); i += fields.size()) {
    Piece piece;
    std::uint64_t length = 0;
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const std::uint64_t value = integers[i + field];
      if (fields[field] == "begin") piece.begin = before += value;
      if (fields[field] == "length") length = value;
      if (fields[field] == "state") piece.state = timeline.at("states").at(value);
      if (fields[field] == "name") piece.name = timeline.at("texts").at(value);
      if (fields[field] == "bytes") piece.bytes = value;
      if (fields[field] == "peer") piece.peer = static_cast<std::int64_t>(value) - 2;
    }
    piece.end = piece.begin + length;
    pieces.push_back(piece);
  }
  return pieces;
}

const Json& track_of(const Json& timeline, std::size_t rank, const std::string& kind) {
  for (const Json& track : timeline.at("ranks").at(rank).at("tracks")) {
    if (track.at("kind") == kind) {
      return track;
    }
  }
  throw std::runtime_error("no track of " + kind);
}

std::vector<Piece> pieces_of(const Json& timeline, std::size_t rank, const std::string& kind) {
  return pieces_of(timeline, track_of(timeline, rank, kind));
}

/// Rank 0 waits from 100 for rank 1, which posts at 300 and whose message arrives at 350; a kernel hides the
/// first 50.
std::vector<RecordingBuilder> late_sender() {
  return {
      RecordingBuilder(0, 2)
          .runs(0, 1000)
          .kernel(0, 150, "_Z4bulkv")
          .copy(400, 450, 4096, 2)
          .half({.direction = Direction::receive,
                 .peer = 1,
                 .post = 100,
                 .complete = 350,
                 .bytes = 77,
                 .key = 1})
          .call({.function = "MPI_Recv", .begin = 100, .end = 350, .bytes = 77, .call_site = 0x40, .peer = 1})
          .range("exchange", 50, 400),
      RecordingBuilder(1, 2)
          .runs(20, 1000)
          .kernel(20, 300)
          .half(
              {.direction = Direction::send, .peer = 0, .post = 300, .complete = 340, .bytes = 77, .key = 1})
          .call({.function = "MPI_Send", .begin = 300, .end = 340, .bytes = 77, .call_site = 0x80})};
}

TEST(JobTimeline, of_a_small_job_holds_every_piece_with_its_name) {
  const Json timeline = timeline_of(late_sender());
  EXPECT_EQ(timeline.at("schema"), "penstock-timeline-1");
  EXPECT_EQ(timeline.at("run_ns"), 1000);
  EXPECT_TRUE(timeline.at("steps_ns").is_null());
  EXPECT_TRUE(timeline.at("others").is_null());
  ASSERT_EQ(timeline.at("ranks").size(), 2u);
  for (const Json& track : timeline.at("ranks")[0].at("tracks")) {
    EXPECT_EQ(track.at("shortest_ns"), 0);
  }
  const std::vector<Piece> thread = pieces_of(timeline, 0, "thread");
  ASSERT_EQ(thread.size(), 2u);
  EXPECT_EQ(thread[0].name, "exchange");
  EXPECT_EQ(thread[0].state, "range");
  EXPECT_EQ(thread[1].name, "MPI_Recv");
  EXPECT_EQ(thread[1].state, "waiting_call");
  EXPECT_EQ(thread[1].begin, 100u);
  EXPECT_EQ(thread[1].end, 350u);
  EXPECT_EQ(thread[1].bytes, 77u);
  EXPECT_EQ(thread[1].peer, 1);
  const std::vector<Piece> stream = pieces_of(timeline, 0, "stream");
  ASSERT_EQ(stream.size(), 2u);
  EXPECT_EQ(stream[0].name, "bulk");
  EXPECT_EQ(stream[0].state, "kernel");
  EXPECT_EQ(stream[1].name, "copy device to host");
  EXPECT_EQ(stream[1].bytes, 4096u);
}

TEST(JobTimeline, waits_have_their_causes_and_who_was_waited_for) {
  const Json timeline = timeline_of(late_sender());
  const std::vector<Piece> waits = pieces_of(timeline, 0, "waits");
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].state, "late_sender");
  EXPECT_EQ(waits[0].begin, 100u);
  EXPECT_EQ(waits[0].end, 300u);
  EXPECT_EQ(waits[0].peer, 1);
  EXPECT_EQ(waits[1].state, "wire");
  EXPECT_EQ(integers_of(track_of(timeline, 0, "waits").at("data"))[4], 150u) << "50 of it behind a kernel";
}

TEST(JobTimeline, messages_go_from_their_sender_s_post_to_their_receiver_s_completion) {
  const Json timeline = timeline_of(late_sender());
  EXPECT_EQ(timeline.at("messages").at("count"), 1);
  const std::vector<std::uint64_t> message = integers_of(timeline.at("messages").at("data"));
  EXPECT_EQ(message, (std::vector<std::uint64_t>{300, 50, 1, 0, 1, 77}));
}

TEST(JobTimeline, begins_when_the_first_rank_came_out_of_MPI_Init) {
  const Json timeline = timeline_of(late_sender());
  EXPECT_EQ(timeline.at("ranks")[0].at("run_ns"), (Json{0, 1000}));
  EXPECT_EQ(timeline.at("ranks")[1].at("run_ns"), (Json{20, 1000}));
}

TEST(JobTimeline, of_one_rank_is_of_this_rank_alone) {
  const Json timeline = timeline_of(late_sender(), {}, {.only_rank = 1});
  ASSERT_EQ(timeline.at("ranks").size(), 1u);
  EXPECT_EQ(timeline.at("ranks")[0].at("rank"), 1);
  EXPECT_EQ(timeline.at("messages").at("count"), 0);
}

/// Steps of 1,000, each with ten kernels of 20 and 80 calls of MPI; step 70 takes ten times as long, for a
/// kernel of 9,000.
RecordingBuilder many_pieces(std::int32_t rank, std::int32_t ranks) {
  RecordingBuilder builder(rank, ranks);
  std::uint64_t begin = 500;
  for (std::uint64_t step = 0; step < 100; ++step) {
    const std::uint64_t length = step == 69 ? 10'000 : 1000;
    builder.range("step", begin, begin + length);
    for (std::uint64_t i = 0; i < 10; ++i) {
      builder.kernel(begin + i * 90, begin + i * 90 + 20);
    }
    for (std::uint64_t i = 0; i < 80; ++i) {
      builder.call({.function = "MPI_Barrier", .begin = begin + i * 10, .end = begin + i * 10 + 5});
    }
    if (length > 1000) {
      builder.kernel(begin + 1000, begin + length, "slow");
    }
    begin += length;
  }
  return builder.runs(0, begin + 500);
}

TEST(JobTimeline, of_more_than_it_can_hold_keeps_what_matters_and_the_sum_of_all) {
  const Json timeline = timeline_of({many_pieces(0, 1)}, {.pieces = 20'000});
  const Json& rank = timeline.at("ranks")[0];
  ASSERT_GT(track_of(timeline, 0, "thread").at("shortest_ns"), 0);
  ASSERT_GE(timeline.at("windows").size(), 2u);
  EXPECT_EQ(timeline.at("steps_ns"), (Json{500, 109'500}));
  EXPECT_EQ(timeline.at("windows")[0].at("why"), "a typical step: step 51");
  EXPECT_EQ(timeline.at("windows")[1].at("why"), "the slowest step: step 70");
  std::size_t characters = 0;
  for (const Json& track : rank.at("tracks")) {
    characters += track.at("data").get<std::string>().size();
  }
  EXPECT_LE(characters, 20'000u);
  EXPECT_GT(characters, 5'000u);

  // in the windows everything, elsewhere what is long
  const std::uint64_t shortest = track_of(timeline, 0, "thread").at("shortest_ns");
  const auto is_in_detail = [&](std::uint64_t begin, std::uint64_t end) {
    return std::any_of(rank.at("detail_ns").begin(), rank.at("detail_ns").end(), [&](const Json& when) {
      return begin < when[1].get<std::uint64_t>() && end > when[0].get<std::uint64_t>();
    });
  };
  std::set<std::uint64_t> calls;
  for (const Piece& piece : pieces_of(timeline, 0, "thread")) {
    EXPECT_TRUE(is_in_detail(piece.begin, piece.end) || piece.end - piece.begin >= shortest);
    if (piece.name == "MPI_Barrier") {
      calls.insert(piece.begin);
    }
  }
  std::size_t expected = 0;
  for (std::uint64_t step = 0; step < 100; ++step) {
    for (std::uint64_t i = 0; i < 80; ++i) {
      const std::uint64_t begin = 500 + step * 1000 + (step > 69 ? 9000 : 0) + i * 10;
      if (is_in_detail(begin, begin + 5)) {
        ++expected;
        EXPECT_TRUE(calls.contains(begin)) << begin;
      }
    }
  }
  EXPECT_GT(expected, 50u);
  const std::vector<Piece> kernels = pieces_of(timeline, 0, "stream");
  EXPECT_TRUE(
      std::any_of(kernels.begin(), kernels.end(), [](const Piece& each) { return each.name == "slow"; }));

  // the shares have all of it
  const Json& stream = track_of(timeline, 0, "stream");
  const std::vector<std::uint8_t> shares = bytes_of(stream.at("shares"));
  const std::size_t bins = stream.at("bins");
  ASSERT_EQ(shares.size(), bins * stream.at("states").size());
  EXPECT_EQ(timeline.at("states").at(stream.at("states")[0].get<std::size_t>()), "kernel");
  double in_kernels = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    in_kernels +=
        shares[bin] / 255.0 * static_cast<double>(timeline.at("run_ns")) / static_cast<double>(bins);
  }
  EXPECT_NEAR(in_kernels, 100 * 10 * 20 + 9000, 300);
}

TEST(Detail, has_as_much_beside_the_windows_as_there_is_room_for) {
  RankTracks tracks;
  tracks.tracks.push_back({exports::TrackKind::stream, "stream", 0, 0, {}});
  for (std::uint64_t i = 0; i < 1000; ++i) {
    tracks.tracks[0].slices.push_back({i * 10, i * 10 + 5, 0, exports::Source::kernel});
  }
  const std::vector<Window> windows{{{5000, 5100}, "some step"}};
  const auto length_of = [](const Detail& detail) {
    return detail.windows.at(0).end_ns - detail.windows.at(0).begin_ns;
  };
  EXPECT_TRUE(choose_detail(tracks, windows, 10'000, 1000).has_all());
  const Detail some = choose_detail(tracks, windows, 10'000, 300);
  EXPECT_FALSE(some.has_all());
  EXPECT_LE(length_of(some), 2000u) << "two thirds of 300 pieces";
  EXPECT_GE(length_of(some), 1000u);
  EXPECT_TRUE(some.holds(1, 5050, 5055));
  EXPECT_FALSE(some.holds(1, 50, 55));
  const Detail few = choose_detail(tracks, windows, 10'000, 9);
  EXPECT_EQ(few.windows.at(0), (Interval{5000, 5060})) << "from its begin on, as far as six pieces";
}

TEST(Detail, gives_each_track_its_part_of_what_is_left) {
  RankTracks tracks;
  for (const std::uint64_t length : {1u, 100u}) {
    tracks.tracks.push_back({exports::TrackKind::stream, "stream", 0, 0, {}});
    for (std::uint64_t i = 0; i < 1000; ++i) {
      tracks.tracks.back().slices.push_back(
          {i * 1000, i * 1000 + length * (1 + i % 10), 0, exports::Source::kernel});
    }
  }
  const Detail detail = choose_detail(tracks, {}, 1'000'000, 500);
  EXPECT_EQ(detail.shortest_ns, (std::vector<std::uint64_t>{0, 9, 801}))
      << "not the track with the longest pieces alone";
}

TEST(JobTimeline, of_pieces_that_are_all_alike_keeps_no_more_than_fit) {
  RecordingBuilder builder(0, 1);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    builder.kernel(i * 20, i * 20 + 10);
  }
  const Json timeline = timeline_of({builder.runs(0, 100'000)}, {.pieces = 6000});
  EXPECT_LE(track_of(timeline, 0, "stream").at("data").get<std::string>().size(), 6000u);
  EXPECT_FALSE(timeline.at("ranks")[0].at("detail_ns").empty()) << "without steps, the middle of the run";
}

TEST(JobTimeline, of_many_ranks_gives_tracks_to_some_and_a_row_to_the_others) {
  constexpr std::int32_t ranks = 100;
  std::vector<RecordingBuilder> job;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const auto arrival = static_cast<std::uint64_t>(rank) * 1000;
    job.push_back(RecordingBuilder(rank, ranks)
                      .runs(0, 200'000)
                      .kernel(0, arrival + 1)
                      .call({.function = "MPI_Barrier",
                             .begin = arrival,
                             .end = 100'000,
                             .call_site = 0x40,
                             .collective_ordinal = 1}));
  }
  const Json timeline = timeline_of(job);
  EXPECT_EQ(timeline.at("ranks").size(), ranks_of_large_jobs);
  std::set<std::int32_t> tracked;
  for (const Json& rank : timeline.at("ranks")) {
    tracked.insert(rank.at("rank").get<std::int32_t>());
    EXPECT_FALSE(rank.at("why").get<std::string>().empty());
  }
  EXPECT_TRUE(tracked.contains(0)) << "waits most";
  EXPECT_TRUE(tracked.contains(99)) << "waits least, and is waited for";
  const Json& others = timeline.at("others");
  ASSERT_EQ(others.at("ranks").size(), ranks - ranks_of_large_jobs);
  EXPECT_EQ(others.at("ranks_per_row"), 1);
  const std::size_t bins = others.at("bins");
  const std::vector<std::uint8_t> rows = bytes_of(others.at("data"));
  ASSERT_EQ(rows.size(), others.at("ranks").size() * bins * 3);
  for (std::size_t row = 0; row < others.at("ranks").size(); ++row) {
    const auto rank = others.at("ranks")[row].get<std::uint64_t>();
    EXPECT_FALSE(tracked.contains(static_cast<std::int32_t>(rank)));
    const auto time_in = [&](std::size_t column) {
      double sum = 0;
      for (std::size_t bin = 0; bin < bins; ++bin) {
        sum += rows[(row * 3 + column) * bins + bin] / 255.0 * 200'000 / static_cast<double>(bins);
      }
      return sum;
    };
    EXPECT_NEAR(time_in(0), static_cast<double>(rank) * 1000, 500);
    EXPECT_NEAR(time_in(1), 100'000 - static_cast<double>(rank) * 1000, 500);
    const std::size_t waiting_bin = bins * 45 / 100;
    if (rank < 40) {
      EXPECT_EQ(timeline.at("states").at(rows[(row * 3 + 2) * bins + waiting_bin]), "wait_at_collective");
    }
  }
}

TEST(JobTimeline, stays_small_at_any_number_of_ranks_tracks_and_names) {
  Budget budget{.pieces = 100'000, .shares = 60'000, .other_ranks = 20'000, .texts = 5'000, .messages = 100};
  std::vector<RecordingBuilder> job;
  for (std::int32_t rank = 0; rank < 70; ++rank) {
    RecordingBuilder builder(rank, 70);
    for (std::uint64_t i = 0; i < 40; ++i) {
      for (std::uint64_t beside = 0; beside < 40; ++beside) {  // kernels beside each other take a track each
        builder.kernel(
            i * 1000 + beside, i * 1000 + 900,
            "_Z9name_" + std::to_string(rank * 100 + static_cast<int>(beside)) + std::string(300, 'x'));
      }
      builder.half({.direction = i % 2 == 0 ? Direction::send : Direction::receive,
                    .peer = (rank + (i % 2 == 0 ? 1 : 69)) % 70,
                    .post = i * 1000,
                    .complete = i * 1000 + 500});
    }
    job.push_back(builder.runs(0, 40'000));
  }
  const Json timeline = timeline_of(job, budget);
  EXPECT_LT(timeline.dump().size(), 500'000u);
  EXPECT_GT(timeline.at("ranks")[0].at("tracks_left_out"), 0);
  EXPECT_GT(timeline.at("messages").at("left_out"), 0);
  for (const Json& text : timeline.at("texts")) {
    EXPECT_LT(text.get<std::string>().size(), 260u);
  }
}

TEST(JobTimeline, of_a_damaged_recording_holds_nothing_that_a_page_cannot_read) {
  RecordingBuilder rank(0, 1);
  constexpr std::uint64_t half_a_year = 180ull * 24 * 3600 * 1'000'000'000;
  rank.call(
          {.function = "MPI_Send", .begin = 10, .end = half_a_year, .bytes = ~std::uint64_t{0}, .peer = -77})
      .kernel(half_a_year, half_a_year + 10)
      .runs(0, 1000);
  const Json timeline = timeline_of({rank});
  EXPECT_EQ(timeline.at("run_ns"), 1000);
  const std::vector<Piece> thread = pieces_of(timeline, 0, "thread");
  ASSERT_EQ(thread.size(), 1u);
  EXPECT_EQ(thread[0].end, 1000u);
  EXPECT_EQ(thread[0].bytes, (std::uint64_t{1} << 53) - 1);
  EXPECT_EQ(thread[0].peer, -1);
  EXPECT_EQ(pieces_of(timeline, 0, "stream").at(0).begin, 1000u);
}

TEST(JobTimeline, names_that_are_no_text_become_text) {
  const Json timeline = timeline_of(
      {RecordingBuilder(0, 1).runs(0, 100).range("\xff</script>\x01", 10, 20).kernel(0, 10, "\xc3")});
  EXPECT_EQ(pieces_of(timeline, 0, "thread")[0].name, "\xef\xbf\xbd</script>\xef\xbf\xbd");
}

TEST(TimelineColumns, base64_is_as_everybody_writes_it) {
  const std::string text = "any carnal pleas";
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  EXPECT_EQ(base64(bytes), "YW55IGNhcm5hbCBwbGVhcw==");
  EXPECT_EQ(base64(std::span(bytes).first(15)), "YW55IGNhcm5hbCBwbGVh");
  EXPECT_EQ(base64({}), "");
  ByteWriter out;
  out.integer(0);
  out.integer(127);
  out.integer(128);
  out.integer(~std::uint64_t{0});
  EXPECT_EQ(integers_of(base64(out.bytes())), (std::vector<std::uint64_t>{0, 127, 128, ~std::uint64_t{0}}));
}

}  // namespace
}  // namespace penstock::analysis::job_timeline
