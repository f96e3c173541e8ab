// Real jobs that hang or die, under `penstock run`: what `penstock report --now` says while they are there,
// and what `penstock report` says behind them.
//   job_unfinished_test MPI_LAUNCH FAMILY PROGRAM PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/running_job.hpp"

namespace penstock::analysis {
namespace {

using Json = nlohmann::json;

class JobUnfinished : public ::testing::TestWithParam<const char*> {
 protected:
  void start(const std::string& way, int ranks) {
    job_.start(fmt::format("{} {} {} -- {} run -o {} {} {} {} {} >{} 2>&1", mpi_launch, family, ranks,
                           penstock_command, recording(), program, way, buffers(), signal(), log()));
  }
  void give_signal() const { std::ofstream(signal()) << "go on"; }

  /// Looks at the job until it is as the test wants it. The limit only serves to show what was seen instead.
  template <typename Wanted>
  [[nodiscard]] Json look_until(const Wanted& wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    Json seen;
    while (std::chrono::steady_clock::now() < end) {
      seen = job_.look();
      if (!seen.is_null() && seen.at("unfinished").is_object() && wanted(seen.at("unfinished"))) {
        return seen.at("unfinished");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ADD_FAILURE() << "seen last: " << seen.dump(1) << content_of(log());
    return seen.is_null() ? seen : seen.at("unfinished");
  }
  [[nodiscard]] Json report_unfinished() const {
    int code = 0;
    const Json json = Json::parse(output_of("report --json", code));
    EXPECT_EQ(code, 0);
    return json.at("unfinished");
  }
  [[nodiscard]] std::string output_of(const std::string& command, int& code) const {
    const std::string to = (directory_.path() / "output").string();
    code =
        exit_code_of(fmt::format("{} {} {} >{} 2>{}.errors", penstock_command, command, recording(), to, to));
    return content_of(to);
  }

 private:
  [[nodiscard]] static std::string buffers() { return GetParam(); }
  [[nodiscard]] std::string recording() const { return (directory_.path() / "recording").string(); }
  [[nodiscard]] std::string signal() const { return (directory_.path() / "signal").string(); }
  [[nodiscard]] std::string log() const { return (directory_.path() / "log").string(); }
  static std::string content_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  testing::TemporaryDirectory directory_;

 protected:
  RunningJob job_{recording()};
};

bool has_standstill(const Json& unfinished, const std::string& kind) {
  for (const Json& each : unfinished.at("standstills")) {
    if (each.at("kind") == kind) {
      return true;
    }
  }
  return false;
}

const Json& first_of(const Json& unfinished, const std::string& kind) {
  for (const Json& each : unfinished.at("standstills")) {
    if (each.at("kind") == kind) {
      return each;
    }
  }
  static const Json none = {{"ranks", Json::array()}, {"waiting_ranks", 0}, {"words", ""}};
  return none;
}

auto once_there_is(const std::string& kind) {
  return [kind](const Json& unfinished) { return has_standstill(unfinished, kind); };
}

using Ranks = std::vector<int>;

TEST_P(JobUnfinished, two_receives_are_told_as_a_deadlock_while_they_hang_and_after_they_were_killed) {
  start("two_receives", 2);
  const Json now = look_until(once_there_is("cycle"));
  EXPECT_EQ(now.at("is_running"), true);
  EXPECT_EQ(first_of(now, "cycle").at("ranks").get<Ranks>(), (Ranks{0, 1}));
  job_.end();
  const Json then = report_unfinished();
  EXPECT_EQ(then.at("is_running"), false);
  EXPECT_EQ(first_of(then, "cycle").at("ranks").get<Ranks>(), (Ranks{0, 1}));
  for (const Json& rank : then.at("ranks")) {
    EXPECT_NE(rank.at("calls").at(0).at("call").get<std::string>().find("MPI_Recv at receive_before_sending"),
              std::string::npos)
        << then.dump(1);
  }
}

TEST_P(JobUnfinished, a_condition_on_it_cannot_be_decided) {
  start("two_receives", 2);
  static_cast<void>(look_until(once_there_is("cycle")));
  job_.end();
  int code = 0;
  static_cast<void>(output_of("report --fail-if 'host code > 99%'", code));
  EXPECT_EQ(code, 4);
}

TEST_P(JobUnfinished, synchronous_sends_in_a_ring_are_a_deadlock) {
  start("synchronous_sends", 3);
  const Json now = look_until(once_there_is("cycle"));
  EXPECT_EQ(first_of(now, "cycle").at("ranks").get<Ranks>(), (Ranks{0, 1, 2}));
}

TEST_P(JobUnfinished, a_killed_rank_is_at_the_end_of_the_chain_of_those_who_wait_for_it) {
  start("killed", 3);
  static_cast<void>(look_until([](const Json& unfinished) {
    const Json& ranks = unfinished.at("ranks");
    return ranks.size() == 3 && first_of(unfinished, "chain").at("ranks").get<Ranks>() == Ranks{1, 0, 2} &&
           ranks.at(0).at("calls").at(0).at("what") == "from rank 2, tag 2" &&
           ranks.at(2).at("calls").empty();
  }));
  give_signal();
  job_.wait_for_ranks();
  const Json then = report_unfinished();
  ASSERT_EQ(then.at("ranks").size(), 3u);
  EXPECT_EQ(then.at("ranks").at(2).at("state"), "killed");
  EXPECT_TRUE(then.at("ranks").at(2).at("calls").empty());
  const Json& calls_of_0 = then.at("ranks").at(0).at("calls");
  ASSERT_EQ(calls_of_0.size(), 1u) << then.dump(1);
  EXPECT_EQ(calls_of_0.at(0).at("waits_for").get<Ranks>(), (Ranks{2})) << then.dump(1);
  EXPECT_EQ(calls_of_0.at(0).at("what"), "from rank 2, tag 2");
}

TEST_P(JobUnfinished, a_rank_in_an_endless_loop_is_the_one_that_the_others_in_a_barrier_wait_for) {
  start("endless_loop", 3);
  // On their way there, others may be the last for a moment, and rank 2 in its last call before the loop.
  const Json now = look_until([](const Json& unfinished) {
    const Json& chain = first_of(unfinished, "chain");
    return chain.at("waiting_ranks") == 2 && chain.at("ranks").back() == 2 &&
           unfinished.at("ranks").at(2).at("calls").empty() &&
           unfinished.at("ranks").at(2).at("state") == "running";
  });
  EXPECT_NE(now.at("next").get<std::string>().find("gdb -p"), std::string::npos);
}

TEST_P(JobUnfinished, a_persistent_receive_waits_for_the_rank_that_does_not_start_its_send) {
  start("persistent", 3);
  // In the messages before, rank 0 may wait for rank 2 as well.
  static_cast<void>(look_until([](const Json& unfinished) {
    const Json& ranks = unfinished.at("ranks");
    return first_of(unfinished, "chain").at("ranks").get<Ranks>() == Ranks{0, 2} &&
           ranks.at(0).at("calls").at(0).at("what") == "from rank 2, tag 5" &&
           ranks.at(2).at("calls").empty() && ranks.at(2).at("state") == "running";
  }));
}

TEST_P(JobUnfinished, different_collectives_are_told_apart) {
  start("collectives", 3);
  const Json now = look_until(once_there_is("mismatched_collectives"));
  const std::string words = first_of(now, "mismatched_collectives").at("words");
  EXPECT_NE(words.find("MPI_Bcast"), std::string::npos) << words;
  EXPECT_NE(words.find("MPI_Allreduce"), std::string::npos) << words;
}

TEST_P(JobUnfinished, MPI_Abort_is_told_with_its_code_and_its_rank) {
  start("abort", 3);
  job_.wait_for_ranks();
  const Json rank = report_unfinished().at("ranks").at(1);
  EXPECT_EQ(rank.at("state"), "aborted");
  EXPECT_EQ(rank.at("abort_code"), 5);
  EXPECT_NE(rank.at("calls").at(0).at("call").get<std::string>().find("MPI_Abort at abort_on_one_rank"),
            std::string::npos);
}

TEST_P(JobUnfinished, exit_without_MPI_Finalize_is_told) {
  start("exit", 3);
  job_.wait_for_ranks();
  EXPECT_EQ(report_unfinished().at("ranks").at(1).at("state"), "exited");
}

TEST_P(JobUnfinished, a_job_that_goes_on_is_never_taken_for_a_deadlock) {
  start("never_stops", 3);
  static_cast<void>(look_until([](const Json& unfinished) { return unfinished.at("ranks").size() == 3; }));
  for (int look = 0; look < 20; ++look) {
    int code = 0;
    const Json seen = Json::parse(output_of("report --now --json", code));
    EXPECT_EQ(code, 0);
    EXPECT_EQ(seen.at("unfinished").at("is_running"), true);
    EXPECT_FALSE(has_standstill(seen.at("unfinished"), "cycle")) << seen.dump(1);
    EXPECT_FALSE(has_standstill(seen.at("unfinished"), "mismatched_collectives")) << seen.dump(1);
  }
}

TEST_P(JobUnfinished, the_report_of_a_job_that_still_runs_says_so) {
  start("endless_loop", 2);
  static_cast<void>(look_until(once_there_is("chain")));
  int code = 0;
  const std::string text = output_of("report", code);
  EXPECT_EQ(code, 0);
  EXPECT_NE(text.find("The job still runs"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Of, JobUnfinished, ::testing::Values("host", "device"),
                         [](const auto& each) { return std::string(each.param) + "_memory"; });

}  // namespace
}  // namespace penstock::analysis
