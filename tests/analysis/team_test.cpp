// What the members of a team each keep of a job, and that nothing in the report tells that it is not all.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/joining/needed_facts.hpp"
#include "tests/analysis/known_job.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/thread_team.hpp"

namespace penstock::analysis {
namespace {

using testing::KnownJob;
using testing::origin_ns;
using testing::RecordingBuilder;
using testing::reports_of_team;
using testing::TemporaryDirectory;
using testing::ThreadTeam;
using trace::Direction;

constexpr std::uint32_t window_id = 1u << 31;

constexpr std::uint64_t key_of(std::int32_t sender, std::uint64_t number) {
  return (static_cast<std::uint64_t>(sender) + 1) << 40 | number;
}

/// Six ranks on three hosts of different clocks exchange a message, meet in a collective, or wait at a
/// window, at a time; much of it is recorded as only damage or a bug would: halves that are missing, that
/// name another peer or bear a key once more, transfers noted by a third rank. Test only.
class RandomJob {
 public:
  explicit RandomJob(std::uint32_t seed) : random_(seed) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      RecordingBuilder& builder = builders_.emplace_back(rank, ranks);
      std::snprintf(builder.header().host_name, sizeof builder.header().host_name, "node%d", rank / 2);
      builder.header().realtime_offset_ns -= ahead_ns(rank);
      builder.kernel(ahead_ns(rank) + 1, ahead_ns(rank) + 2)
          .runs(ahead_ns(rank), ahead_ns(rank) + (rounds + 2) * round_ns);
      trace::Communicator some{};
      some.global_id = 0x500 + static_cast<std::uint64_t>(rank % 3);  // of two ranks each, on two hosts
      some.local_id = 3;
      some.name = builder.text("pair");
      some.size = 2;
      some.kind = trace::RecordKind::communicator;
      builder.raw(some);
      builder.window(window_id);
    }
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t begin_ns = (round + 1) * round_ns;
      chance(5) ? collective(begin_ns) : chance(6) ? window(begin_ns) : message(begin_ns, round + 1);
    }
  }
  void write(const std::filesystem::path& directory) const {
    for (const RecordingBuilder& each : builders_) {
      each.write(directory);
    }
  }

 private:
  static constexpr std::int32_t ranks = 6;
  static constexpr std::uint64_t rounds = 300;
  static constexpr std::uint64_t round_ns = 1'000;

  static std::uint64_t ahead_ns(std::int32_t rank) { return static_cast<std::uint64_t>(rank / 2) * 700'000; }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  std::int32_t any_rank() { return static_cast<std::int32_t>(below(ranks)); }
  trace::BufferKind any_buffer() {
    constexpr std::array kinds{trace::BufferKind::pageable, trace::BufferKind::pinned,
                               trace::BufferKind::device};
    return kinds[below(kinds.size())];
  }

  void message(std::uint64_t begin_ns, std::uint64_t number) {
    const std::int32_t sender = any_rank();
    const std::int32_t receiver = (sender + 1 + static_cast<std::int32_t>(below(ranks - 1))) % ranks;
    std::uint64_t key = 0;
    if (!chance(3)) {
      number = chance(8) ? 1 + below(number) : number;
      key = key_of(sender, number);
    }
    half(Direction::send, sender, receiver, begin_ns, begin_ns + 700, key);
    half(Direction::receive, receiver, sender, begin_ns, begin_ns + 800, key);
    if (key != 0 && chance(8)) {
      half(Direction::send, sender, receiver, begin_ns + 820, begin_ns + 900, key);
    }
    if (key != 0 && !chance(3)) {
      const std::int32_t by = chance(8) ? any_rank() : chance(2) ? sender : receiver;
      const std::uint64_t from_ns = ahead_ns(by) + begin_ns + 450 + below(100);
      builders_[static_cast<std::size_t>(by)].transfer(
          {.begin = from_ns,
           .end = from_ns + 100,
           .bytes = 4096,
           .key = key,
           .transport = chance(2) ? trace::TransportKind::peer : trace::TransportKind::staged,
           .reason = "reason " + std::to_string(below(9)),
           .wait = 40});
    }
  }

  void half(Direction direction, std::int32_t rank, std::int32_t peer, std::uint64_t begin_ns,
            std::uint64_t end_ns, std::uint64_t key) {
    const std::uint64_t post_ns = ahead_ns(rank) + begin_ns + below((end_ns - begin_ns) / 2);
    const std::uint64_t complete_ns = ahead_ns(rank) + end_ns;
    const std::uint64_t bytes = 1 + below(200'000);
    RecordingBuilder& builder = builders_[static_cast<std::size_t>(rank)];
    builder.call({.function = direction == Direction::send ? "MPI_Send" : "MPI_Recv",
                  .begin = post_ns,
                  .end = complete_ns,
                  .bytes = bytes,
                  .call_site = 0x10 * (1 + below(3))});
    if (!chance(10)) {
      builder.half({.direction = direction,
                    .peer = chance(8) ? any_rank() : peer,
                    .post = post_ns,
                    .complete = complete_ns,
                    .bytes = bytes,
                    .key = key,
                    .tag = static_cast<std::int32_t>(below(2)),
                    .buffer = any_buffer()});
    }
  }

  void window(std::uint64_t begin_ns) {
    const std::int32_t waiting = any_rank();
    const std::int32_t awaited = any_rank();
    const std::uint64_t opened_ns = begin_ns + 100 + below(300);
    const auto call = [&](std::int32_t rank, const char* function, std::uint64_t from_ns, std::uint64_t to_ns,
                          std::int32_t peer) {
      builders_[static_cast<std::size_t>(rank)].call({.function = function,
                                                      .begin = ahead_ns(rank) + from_ns,
                                                      .end = ahead_ns(rank) + to_ns,
                                                      .call_site = 0x70,
                                                      .peer = peer,
                                                      .communicator = window_id});
    };
    call(waiting, "MPI_Win_start", begin_ns, begin_ns + 500 + below(200), chance(8) ? any_rank() : awaited);
    if (awaited != waiting && !chance(8)) {
      call(awaited, "MPI_Win_post", opened_ns, opened_ns + 50, -1);
    }
  }

  void collective(std::uint64_t begin_ns) {
    const bool of_pairs = chance(2);
    std::uint32_t& ordinal = of_pairs ? pairs_ordinal_ : world_ordinal_;
    ++ordinal;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      RecordingBuilder& builder = builders_[static_cast<std::size_t>(rank)];
      trace::MpiCall record{};
      record.begin_ns = origin_ns + ahead_ns(rank) + begin_ns + below(500);
      record.end_ns = origin_ns + ahead_ns(rank) + begin_ns + 800 + below(50);
      record.bytes = 8;
      record.call_site = 0x90;
      record.function = builder.text("MPI_Allreduce");
      record.communicator = of_pairs ? 3 : 1;
      record.peer = -1;
      record.tag = -1;
      record.collective_ordinal = ordinal;
      record.repeats = 1;
      record.waits = 1;
      record.kind = trace::RecordKind::mpi_call;
      if (!chance(12)) {
        builder.raw(record);
      }
    }
  }

  std::mt19937 random_;
  std::vector<RecordingBuilder> builders_;
  std::uint32_t world_ordinal_ = 0;
  std::uint32_t pairs_ordinal_ = 0;
};

TEST(TeamReport, is_the_same_whatever_was_recorded) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const TemporaryDirectory directory;
    RandomJob(seed).write(directory.path());
    const std::string alone = to_json(analyse(directory.path(), {.whole_run = true}));
    for (const std::size_t members : {2u, 3u, 6u}) {
      EXPECT_TRUE(reports_of_team(directory.path(), members, {.whole_run = true}).front() == alone)
          << "seed " << seed << ", " << members << " members";
    }
  }
}

TEST(TeamReport, has_messages_that_join_and_some_that_do_not) {
  const TemporaryDirectory directory;
  RandomJob(1).write(directory.path());
  const Report report = analyse(directory.path(), {.whole_run = true});
  EXPECT_GT(report.unmatched_halves, 20u);
  EXPECT_LT(report.unmatched_halves, 300u);
  EXPECT_EQ(report.aligned_hosts, 3u);
  EXPECT_TRUE(report.replay.has_value());
  EXPECT_TRUE(std::any_of(report.latecomers.begin(), report.latecomers.end(),
                          [](const LatecomerFigures& each) { return each.mpi_function == "MPI_Win_post"; }));
  EXPECT_GT(report.transports.size(), 20u);
}

/// Writes down what the index knows of each rank that it sees.
class Listener final : public RankVisitor {
 public:
  void note(const RankTrace& rank, const MessageIndex& index, std::span<const std::uint64_t>) override {
    note_messages(rank, positions_++, index);
  }
  void begin(const Report&, const MessageIndex&, KeptNames&) override {}
  void visit(const RankTrace& rank, std::size_t position, const MessageIndex& index) override {
    note_messages(rank, position, index);
  }
  [[nodiscard]] const std::vector<std::uint64_t>& heard() const { return heard_; }

 private:
  void note_messages(const RankTrace& rank, std::size_t position, const MessageIndex& index) {
    for (std::size_t half = 0; half < rank.halves.size(); ++half) {
      const std::optional<KnownHalf> partner = index.partner_of(rank, position, half);
      heard_.push_back(partner ? partner->post_ns : 0);
      heard_.push_back(index.number_of(rank, position, half));
    }
  }

  std::size_t positions_ = 0;
  std::vector<std::uint64_t> heard_;
};

TEST(TeamReport, shows_its_visitor_the_messages_of_all_ranks) {
  const TemporaryDirectory directory;
  RandomJob(7).write(directory.path());
  Listener alone;
  const std::string report = to_json(analyse(directory.path(), {}, &alone));
  ThreadTeam::Room room(3);
  Listener of_team;
  EXPECT_TRUE(reports_of_team(directory.path(), room, {}, &of_team).front() == report);
  EXPECT_FALSE(alone.heard().empty());
  EXPECT_TRUE(of_team.heard() == alone.heard());
}

TEST(TeamReport, of_a_job_that_still_runs_names_each_transport_as_it_was_counted) {
  const TemporaryDirectory directory;
  const auto write_first_rank = [&](bool has_gone_on) {
    RecordingBuilder builder(0, 2);
    if (has_gone_on) {
      builder.transfer({.begin = 50, .end = 60, .bytes = 8, .key = key_of(0, 2), .reason = "only later"});
    }
    builder.kernel(1, 2).runs(0, 100).write(directory.path());
  };
  write_first_rank(false);
  RecordingBuilder(1, 2)
      .transfer({.begin = 20, .end = 30, .bytes = 8, .key = key_of(0, 1), .reason = "from the beginning"})
      .kernel(1, 2)
      .runs(0, 100)
      .write(directory.path());
  AnalysisOptions options{.whole_run = true};
  options.progress = [&](std::size_t, std::size_t, const std::string& what) {
    if (what == "replaying") {
      write_first_rank(true);
    }
  };
  ThreadTeam::Room room(1);
  ThreadTeam team(room, 0);
  const std::optional<Report> report = analyse_together(directory.path(), options, team);
  ASSERT_TRUE(report && report->replay);
  ASSERT_EQ(report->transports.size(), 1u);
  EXPECT_EQ(report->transports[0].reason, "from the beginning");
}

TEST(TeamReport, is_made_of_pieces_that_are_no_larger_however_many_ranks_a_member_has) {
  constexpr std::size_t enough_bytes = std::size_t{5}
                                       << 20;  // with a rank that goes beyond what is asked for
  const TemporaryDirectory directory;
  const KnownJob job(16, 40'000);
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    job.write(rank, directory.path());
  }
  ThreadTeam::Room room(1);
  static_cast<void>(reports_of_team(directory.path(), room, {.only_rank = 0}));
  EXPECT_GT(room.most_bytes, enough_bytes / 2);
  EXPECT_LT(room.most_bytes, enough_bytes);
}

RankFacts facts_of(const RecordingBuilder& builder) {
  const TemporaryDirectory directory;
  return analysis::facts_of(load_rank(builder.write(directory.path())));
}

std::vector<std::uint64_t> posts_of(const RankFacts& facts) {
  std::vector<std::uint64_t> posts;
  for (const HalfFacts& each : facts.halves) {
    posts.push_back(each.post_ns - origin_ns);
  }
  return posts;
}

/// Rank 1 of four, which others' facts are kept for.
NeededFacts needed_by_one() {
  RecordingBuilder one(1, 4);
  one.half({.direction = Direction::receive, .peer = 0, .post = 10, .complete = 11, .key = key_of(0, 1)})
      .half({.direction = Direction::receive, .peer = 0, .post = 20, .complete = 21})
      .transfer({.begin = 30, .end = 31, .bytes = 8, .key = key_of(2, 9)})
      .call({.function = "MPI_Barrier", .begin = 40, .end = 41, .collective_ordinal = 1});
  NeededFacts needed;
  needed.add(facts_of(one));
  needed.finish();
  return needed;
}

TEST(NeededFacts, keep_halves_that_name_the_rank_or_bear_one_of_its_keys) {
  RecordingBuilder other(0, 4);
  other.half({.direction = Direction::send, .peer = 1, .post = 1, .complete = 9, .key = key_of(0, 2)})
      .half({.direction = Direction::send, .peer = 3, .post = 2, .complete = 9, .key = key_of(0, 1)})
      .half({.direction = Direction::receive, .peer = 2, .post = 3, .complete = 9, .key = key_of(2, 9)})
      .half({.direction = Direction::send, .peer = 3, .post = 4, .complete = 9})
      .half({.direction = Direction::send, .peer = 1, .post = 5, .complete = 9})
      .half({.direction = Direction::send, .peer = 1, .post = 6, .complete = 9});
  RankFacts facts = facts_of(other);
  needed_by_one().keep_in(facts);
  EXPECT_EQ(posts_of(facts), (std::vector<std::uint64_t>{2, 3, 5, 6}));
  EXPECT_EQ(facts.groups.size(), 3u);
  EXPECT_EQ(facts.in_groups.size(), 4u);
}

TEST(NeededFacts, keep_what_moved_the_ranks_messages_and_who_came_to_its_collectives) {
  RecordingBuilder other(0, 4);
  trace::Communicator unknown{};
  unknown.global_id = 77;
  unknown.local_id = 3;
  unknown.kind = trace::RecordKind::communicator;
  trace::MpiCall elsewhere{};
  elsewhere.begin_ns = origin_ns + 50;
  elsewhere.end_ns = origin_ns + 51;
  elsewhere.function = other.text("MPI_Barrier");
  elsewhere.communicator = 3;
  elsewhere.collective_ordinal = 1;
  elsewhere.kind = trace::RecordKind::mpi_call;
  other.raw(unknown)
      .transfer({.begin = 1, .end = 2, .bytes = 8, .key = key_of(0, 1)})
      .transfer({.begin = 3, .end = 4, .bytes = 8, .key = key_of(0, 5)})
      .transfer({.begin = 5, .end = 6, .bytes = 8})
      .call({.function = "MPI_Barrier", .begin = 40, .end = 42, .collective_ordinal = 1})
      .raw(elsewhere);
  RankFacts facts = facts_of(other);
  EXPECT_EQ(facts.transfers.size(), 3u);
  EXPECT_EQ(facts.arrivals.size(), 2u);
  needed_by_one().keep_in(facts);
  ASSERT_EQ(facts.transfers.size(), 1u);
  EXPECT_EQ(facts.transfers[0].key, key_of(0, 1));
  ASSERT_EQ(facts.arrivals.size(), 1u);
  EXPECT_EQ(facts.arrivals[0].communicator, testing::world_id);
}

TEST(NeededFacts, keep_calls_on_windows_that_the_rank_waited_for_or_that_waited_for_it) {
  const auto on_window = [](RecordingBuilder& rank, const char* function, std::uint64_t begin,
                            std::int32_t peer = -1, std::uint32_t window = window_id) {
    rank.call({.function = function, .begin = begin, .end = begin + 1, .peer = peer, .communicator = window});
  };
  RecordingBuilder one(1, 4);
  one.window(window_id).window(window_id + 1);
  on_window(one, "MPI_Win_start", 10, 0);
  NeededFacts needed;
  needed.add(facts_of(one));
  needed.finish();
  for (const std::int32_t rank : {0, 2}) {
    RecordingBuilder other(rank, 4);
    other.window(window_id).window(window_id + 1);
    on_window(other, "MPI_Win_post", 20);
    on_window(other, "MPI_Win_post", 30, -1, window_id + 1);
    on_window(other, "MPI_Win_wait", 40, 1, window_id + 1);
    on_window(other, "MPI_Win_wait", 50, 3);
    RankFacts facts = facts_of(other);
    EXPECT_EQ(facts.window_calls.size(), 4u);
    needed.keep_in(facts);
    std::vector<std::uint64_t> begins;
    for (const WindowCall& each : facts.window_calls) {
      begins.push_back(each.begin_ns - origin_ns);
    }
    EXPECT_EQ(begins, rank == 0 ? (std::vector<std::uint64_t>{20, 40}) : (std::vector<std::uint64_t>{40}));
  }
}

}  // namespace
}  // namespace penstock::analysis
