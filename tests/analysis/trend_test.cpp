// Histories whose answer is known, from recordings of runs of known steps.
#include "analysis/comparison/trend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/comparison/baseline.hpp"
#include "analysis/comparison/trend_text.hpp"
#include "analysis/layout/text_table.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

using testing::ms;
constexpr std::uint64_t day_ns = 24ull * 3600 * 1'000'000'000;

/// A run of one rank whose steps have 6 ms of kernels, so much host code in the range "assemble", with a
/// jitter of 0.1 ms from step to step, and 2 ms in a barrier.
struct Run {
  std::uint64_t host_ms = 4;
  std::uint64_t day = 0;
  std::string commit;
  std::string batch_job;
  std::int32_t ranks = 1;
  bool has_steps = true;
};

RecordingBuilder recording_of(const Run& run) {
  RecordingBuilder recording(0, run.ranks);
  recording.header().realtime_offset_ns += run.day * day_ns;
  if (!run.commit.empty()) {
    recording.fact("commit", run.commit);
  }
  if (!run.batch_job.empty()) {
    recording.fact("batch_job", run.batch_job).fact("driver", "580.65.06").fact("weather", "fine");
  }
  std::uint64_t at = 0;
  const std::uint64_t steps = run.has_steps ? 10 : 2;  // what comes twice is no step
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t comes = at + 6 * ms + run.host_ms * ms + step % 2 * (ms / 10);
    if (run.has_steps) {
      recording.range("step", at, comes + 2 * ms);
    }
    recording.kernel(at, at + 6 * ms)
        .range("assemble", at + 6 * ms, comes)
        .call({.function = "MPI_Barrier",
               .begin = comes,
               .end = comes + 2 * ms,
               .call_site = 0x40,
               .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
    at = comes + 2 * ms;
  }
  return recording.runs(0, at);
}

NamedReport report_of(const Run& run, const std::string& name = "run") {
  const TemporaryDirectory directory;
  recording_of(run).write(directory.path());
  return {name, analyse(directory.path())};
}

const std::string first_commit = "1111111111aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const std::string second_commit = "2222222222aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

std::vector<NamedReport> three_runs() {
  return {report_of({.day = 0, .commit = first_commit, .batch_job = "4001"}, "runs/a"),
          report_of({.day = 1, .commit = first_commit, .batch_job = "4002"}, "runs/b"),
          report_of({.host_ms = 7, .day = 2, .commit = second_commit, .batch_job = "4003"}, "runs/c")};
}

bool fits_the_screen(const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (width_of(text.substr(begin, end - begin)) > screen_columns) {
      return false;
    }
    begin = end + 1;
  }
  return true;
}

TEST(Trend, a_change_beyond_jitter_is_told_with_the_part_that_changed_and_one_within_it_is_not) {
  const Trend trend = trend_of(three_runs(), {"assemble"});
  ASSERT_EQ(trend.runs.size(), 3u);
  EXPECT_TRUE(trend.is_by_step);
  EXPECT_FALSE(trend.runs[0].change);
  EXPECT_EQ(trend.runs[1].change->totals.front().verdict, Verdict::jitter);
  const Diff& change = *trend.runs[2].change;
  EXPECT_EQ(change.totals.front().verdict, Verdict::more);
  for (const DiffRow& part : change.parts) {
    EXPECT_EQ(part.verdict, part.name == name_of(TimePart::host_code) ? Verdict::more : Verdict::jitter)
        << part.name;
  }
  ASSERT_EQ(change.regions.size(), 1u);
  EXPECT_EQ(change.regions[0].verdict, Verdict::more);
  EXPECT_DOUBLE_EQ(change.regions[0].after_ns - change.regions[0].before_ns, 3.0 * ms);
  ASSERT_TRUE(trend.since_first);
  EXPECT_EQ(trend.since_first->verdict, Verdict::more);
}

TEST(Trend, a_run_has_its_facts_quartiles_parts_and_regions) {
  const Trend trend =
      trend_of({report_of({.commit = first_commit, .batch_job = "4001"})}, {"assemble", "io"});
  const TrendRun& run = trend.runs.front();
  EXPECT_EQ(run.facts.commit, first_commit);
  EXPECT_EQ(run.facts.batch_job, "4001");
  EXPECT_EQ(run.facts.driver, "580.65.06");
  EXPECT_EQ(run.steps, 10u);
  ASSERT_TRUE(run.step_quartiles);
  EXPECT_DOUBLE_EQ(run.step_quartiles->low, 12.0 * ms);
  EXPECT_DOUBLE_EQ(run.step_quartiles->median, 12.1 * ms);
  EXPECT_DOUBLE_EQ(run.time_ns, 12.05 * ms);
  EXPECT_DOUBLE_EQ((*run.parts_ns)[static_cast<std::size_t>(TimePart::kernels)], 6.0 * ms);
  EXPECT_NEAR(*run.counted_share, 2.0 / 12.05, 1e-9);
  ASSERT_TRUE(run.regions[0]);
  EXPECT_DOUBLE_EQ(run.regions[0]->total_ns, 4.05 * ms);
  EXPECT_EQ(run.regions[0]->counted_ns, 0.0);
  EXPECT_FALSE(run.regions[1]);
  EXPECT_FALSE(trend.since_first);
}

TEST(Trend, runs_are_ordered_by_when_they_began) {
  std::vector<NamedReport> reports{report_of({.day = 2}, "c"), report_of({.day = 0}, "a"),
                                   report_of({.day = 1}, "b")};
  order_by_begin(reports);
  EXPECT_EQ(reports[0].recording + reports[1].recording + reports[2].recording, "abc");
}

TEST(Trend, runs_without_steps_show_no_change_beyond_jitter) {
  const Trend trend =
      trend_of({report_of({.has_steps = false}), report_of({.host_ms = 9, .has_steps = false})}, {});
  EXPECT_FALSE(trend.is_by_step);
  EXPECT_EQ(trend.runs[1].change->totals.front().verdict, Verdict::unknown);
  const std::string text = to_text(trend, {}, false, 20);
  EXPECT_NE(text.find("whether that is jitter is not"), std::string::npos) << text;
  EXPECT_NE(text.find("--step"), std::string::npos) << text;
}

TEST(Trend, golden_text_of_three_runs) {
  ::setenv("TZ", "UTC", 1);
  const std::string expected = R"(penstock · solver --steps 10
3 runs of 1 rank on node01 · MPICH 4.0.2 · Test GPU · driver 580.65.06

The newest run takes 15.050 ms a step: 24.9 % more than the run before it (host code +3.000 ms);
+24.9 % against the first one.

Run  began             commit     step ms  median        quartiles     change  exposed
  1  2023-11-14 22:30  111111111   12.050  12.100  12.000 … 12.100              16.6 %  ████████
  2  2023-11-15 22:30  111111111   12.050  12.100  12.000 … 12.100     +0.0 %   16.6 %  ████████
  3  2023-11-16 22:30  222222222   15.050  15.100  15.000 … 15.100  +24.9 % ▲   13.3 %  ██████████

Run  kernels ms     wire    host code
  1       6.000    2.000        4.050
  2       6.000    2.000        4.050
  3       6.000    2.000        7.050 ▲

Run  parallel efficiency  load balance  serialisation  transfer  GPU efficiency
  1               83.4 %       100.0 %        100.0 %    83.4 %          49.8 %
  2               83.4 %       100.0 %        100.0 %    83.4 %          49.8 %
  3               86.7 %       100.0 %        100.0 %    86.7 %          39.9 %

Run  assemble ms    exposed
  1        4.050      0.0 %
  2        4.050      0.0 %
  3        7.050 ▲    0.0 %

Run  recording  job
  1  runs/a     4001
  2  runs/b     4002
  3  runs/c     4003

Run 3 (222222222): +3.000 ms ± 0.050 a step: host code +3.000 ms

Time a step of the average rank. ▲ ▼: more, less than in the run before, beyond the 95 % confidence
interval from how the steps of both vary. Runs may differ by more: how far is known from three
earlier runs of the program on. Median and quartiles: of the steps.
)";
  const std::string text = to_text(trend_of(three_runs(), {"assemble"}), {}, false, 20);
  EXPECT_EQ(text, expected);
  EXPECT_TRUE(fits_the_screen(text)) << text;
}

/// Runs whose host code differs although the program is the same.
std::vector<NamedReport> restless_runs(const std::vector<std::uint64_t>& host_ms) {
  std::vector<NamedReport> runs;
  for (const std::uint64_t each : host_ms) {
    runs.push_back(report_of({.host_ms = each, .day = runs.size()}));
  }
  return runs;
}

TEST(Trend, what_runs_differ_by_anyway_is_no_change) {
  const Trend trend = trend_of(restless_runs({4, 9, 5, 8}), {"assemble"});
  for (std::size_t i = 1; i < trend.runs.size(); ++i) {
    const Diff& change = *trend.runs[i].change;
    EXPECT_EQ(change.other_pairs, 2U);
    EXPECT_EQ(change.totals.front().verdict, Verdict::jitter) << i;
    EXPECT_EQ(change.regions.front().verdict, Verdict::jitter) << i;
    for (const DiffRow& part : change.parts) {
      EXPECT_EQ(part.verdict, Verdict::jitter) << part.name;
    }
  }
  EXPECT_EQ(trend.since_first->verdict, Verdict::jitter);
  const std::string text = to_text(trend, {}, false, 20);
  EXPECT_NE(text.find("as long as the run before it, within jitter (+23.0 %, jitter"), std::string::npos)
      << text;
  EXPECT_NE(text.find("by how much other runs of the program"), std::string::npos) << text;
  EXPECT_EQ(text.find("% ▲"), std::string::npos) << text;
  EXPECT_TRUE(fits_the_screen(text)) << text;
}

TEST(Trend, a_change_that_other_runs_do_not_have_is_marked_and_one_of_a_lone_program_is_told_apart) {
  std::vector<NamedReport> runs = restless_runs({4, 4, 4, 9});
  for (NamedReport& other : restless_runs({4, 9})) {
    other.report.program = "another_solver";
    runs.push_back(std::move(other));
  }
  runs.push_back(report_of({}));
  const Trend trend = trend_of(runs, {});
  EXPECT_EQ(trend.runs[3].change->totals.front().verdict, Verdict::more);
  EXPECT_EQ(trend.runs[5].change->totals.front().verdict, Verdict::more) << "by its steps";
  const std::string text = to_text(trend, {}, false, 20);
  EXPECT_NE(text.find("! run 6: too few other runs of its program to know by how much they differ"),
            std::string::npos)
      << text;
}

TEST(Trend, a_part_whose_change_rounds_to_nothing_is_not_listed) {
  Trend trend = trend_of(three_runs(), {});
  for (DiffRow& part : trend.runs[2].change->parts) {
    if (part.name == name_of(TimePart::wire)) {
      part.after_ns = part.before_ns - 400;
      part.verdict = Verdict::less;
    }
  }
  const std::string text = to_text(trend, {}, false, 20);
  EXPECT_EQ(text.find("wire -0.000"), std::string::npos) << text;
  EXPECT_EQ(text.find("▼  "), std::string::npos) << text;
  EXPECT_NE(text.find("host code +3.000 ms"), std::string::npos) << text;
}

TEST(Trend, one_run_has_nothing_to_compare_with) {
  const std::string text = to_text(trend_of({report_of({})}, {}), {}, false, 20);
  EXPECT_NE(text.find("There is no run before it to compare with."), std::string::npos) << text;
  EXPECT_NE(text.find("Give the recordings of several runs"), std::string::npos) << text;
  EXPECT_EQ(text.find("▲"), std::string::npos) << text;
}

TEST(Trend, runs_of_other_programs_or_numbers_of_ranks_are_told_on_a_line) {
  NamedReport other = report_of({.ranks = 4});
  other.report.program = "another_solver\033[2J";
  const Trend trend = trend_of({report_of({}), other}, {"nowhere"});
  const std::string text = to_text(trend, {{"runs/x", "runs/x: not a Penstock recording"}}, false, 20);
  EXPECT_NE(text.find("! run 2 and the one before: numbers of ranks differ: 1; 4"), std::string::npos)
      << text;
  EXPECT_NE(text.find("! run 2 and the one before: commands differ"), std::string::npos) << text;
  EXPECT_NE(text.find("! no run has an NVTX range \"nowhere\""), std::string::npos) << text;
  EXPECT_NE(text.find("! left out: runs/x: not a Penstock recording"), std::string::npos) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(Trend, text_shows_the_newest_runs_and_is_never_wider_than_100_columns) {
  std::vector<NamedReport> reports = three_runs();
  for (NamedReport& each : reports) {
    each.recording = std::string(150, 'r');
    each.report.hosts.push_back(std::string(150, 'h') + each.report.facts.batch_job);
    each.report.facts.batch_job += std::string(90, '0');
  }
  const std::string text =
      to_text(trend_of(reports, {std::string(150, 'x'), "assemble", "b", "c", "step"}), {}, false, 2);
  EXPECT_TRUE(fits_the_screen(text)) << text;
  EXPECT_NE(text.find("… and 1 earlier (--top 3)"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  2  "), std::string::npos) << text;
  EXPECT_EQ(text.find("\n  1  "), std::string::npos) << text;
}

TEST(TrendJson, has_every_documented_key_and_null_for_what_is_not_known) {
  const nlohmann::json json =
      nlohmann::json::parse(to_json(trend_of(three_runs(), {"assemble"}), {{"x", "cannot be read"}}));
  EXPECT_EQ(json.at("schema"), "penstock-trend-1");
  EXPECT_EQ(json.at("time_of"), "step");
  EXPECT_EQ(json.at("left_out").at(0).at("recording"), "x");
  EXPECT_EQ(json.at("remarks"), nlohmann::json::array({"left out: cannot be read"}));
  EXPECT_EQ(json.at("runs_left_out"), 0);
  EXPECT_EQ(json.at("what_ran"), "3 runs of 1 rank on node01 · MPICH 4.0.2 · Test GPU · driver 580.65.06");
  EXPECT_EQ(
      json.at("headline"),
      "The newest run takes 15.050 ms a step: 24.9 % more than the run before it (host code +3.000 ms); "
      "+24.9 % against the first one.");
  EXPECT_NE(json.at("explanation").get<std::string>().find("▲ ▼"), std::string::npos);
  EXPECT_EQ(json.at("since_first").at("verdict"), "more");
  const nlohmann::json& first = json.at("runs").at(0);
  for (const char* key :
       {"recording",     "program",       "mpi",          "ranks",          "hosts",
        "gpus",          "simulated_gpu", "began_unix_s", "commit",         "batch_job",
        "driver",        "missing",       "steps",        "time_s",         "step_quartiles_s",
        "counted_share", "parts_s",       "efficiency",   "gpu_efficiency", "regions",
        "change"}) {
    EXPECT_TRUE(first.contains(key)) << key;
  }
  EXPECT_TRUE(first.at("change").is_null());
  EXPECT_TRUE(first.at("missing").is_null());
  EXPECT_EQ(first.at("commit"), first_commit);
  EXPECT_NEAR(first.at("parts_s").at("kernels"), 0.006, 1e-12);
  const nlohmann::json& change = json.at("runs").at(2).at("change");
  EXPECT_EQ(change.at("time").at("verdict"), "more");
  EXPECT_TRUE(change.at("time").at("runs_margin_s").is_null());
  EXPECT_EQ(change.at("other_pairs"), 0);
  EXPECT_EQ(change.at("words"), "+3.000 ms ± 0.050 a step: host code +3.000 ms");
  EXPECT_TRUE(json.at("runs").at(1).at("change").at("words").is_null());
  EXPECT_EQ(change.at("regions").at(0).at("name"), "assemble");
}

TEST(TrendJson, has_what_other_runs_differ_by) {
  const nlohmann::json json =
      nlohmann::json::parse(to_json(trend_of(restless_runs({4, 9, 5, 8}), {"assemble"}), {}));
  const nlohmann::json& change = json.at("runs").at(3).at("change");
  EXPECT_EQ(change.at("other_pairs"), 2);
  for (const nlohmann::json& row : {change.at("time"), change.at("regions").at(0), json.at("since_first")}) {
    EXPECT_GT(row.at("runs_margin_s"), 0.003) << row;
    EXPECT_EQ(row.at("runs_margin_s"), row.at("margin_s"));
  }
}

TEST(Trend, where_records_are_missing_there_is_no_verdict) {
  NamedReport cut = report_of({.host_ms = 9});
  cut.report.recorded_part.emplace();
  const Trend trend = trend_of({report_of({}), cut}, {});
  EXPECT_NE(trend.runs[1].what_is_missing, "");
  EXPECT_EQ(trend.runs[1].change->totals.front().verdict, Verdict::unknown);
  EXPECT_NE(to_text(trend, {}, false, 20).find("! run 2: "), std::string::npos);
}

}  // namespace
}  // namespace penstock::analysis
