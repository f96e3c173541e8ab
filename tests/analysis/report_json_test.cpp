#include "analysis/report/json/report_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

nlohmann::json json_of(std::initializer_list<RecordingBuilder> ranks) {
  const TemporaryDirectory directory;
  for (const RecordingBuilder& each : ranks) {
    each.write(directory.path());
  }
  return nlohmann::json::parse(to_json(analyse(directory.path())));
}

RecordingBuilder barrier_at(std::int32_t rank, std::uint64_t begin) {
  return RecordingBuilder(rank, 2)
      .runs(0, 1'000'000'000)
      .kernel(0, 100'000'000)
      .call({.function = "MPI_Barrier", .begin = begin, .end = 750'000'000, .collective_ordinal = 1});
}

TEST(ReportJson, names_its_schema_and_writes_seconds) {
  const nlohmann::json json = json_of({barrier_at(0, 250'000'000), barrier_at(1, 500'000'000)});
  EXPECT_EQ(json.at("schema"), "penstock-report-2");
  EXPECT_EQ(json.at("measure"), "exposed_communication");
  EXPECT_TRUE(json.at("why_not_exposed").is_null());
  EXPECT_DOUBLE_EQ(json.at("counted").at("total_s"), 2.0);
  EXPECT_DOUBLE_EQ(json.at("counted").at("counted_s"), 0.75);
  EXPECT_DOUBLE_EQ(json.at("counted").at("by_cause_s").at("wait_at_collective"), 0.25);
  EXPECT_DOUBLE_EQ(json.at("counted").at("by_cause_s").at("wire"), 0.5);
  EXPECT_DOUBLE_EQ(json.at("ranks").at(0).at("exposed_s"), 0.5);
  EXPECT_EQ(json.at("job").at("ranks"), 2);
}

TEST(ReportJson, has_every_documented_key) {
  const nlohmann::json json = json_of({barrier_at(0, 0), barrier_at(1, 0)});
  for (const char* key : {"schema",      "job",        "measure",     "why_not_exposed", "counted",
                          "ranks",       "call_sites", "peers",       "communicators",   "mpi_functions",
                          "phases",      "transports", "notices",     "flaws",           "steps",
                          "advice",      "kernels",    "collectives", "late_ranks",      "staging_by_hand",
                          "unattributed"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char* key : {"rank",
                          "host",
                          "finished",
                          "used_gpu",
                          "run_s",
                          "kernels_recorded",
                          "total_s",
                          "kernels_s",
                          "host_in_mpi_s",
                          "in_flight_s",
                          "communication_s",
                          "exposed_s",
                          "exposed_upper_bound_s",
                          "hidden_s",
                          "overlap",
                          "cuda_synchronisation_s",
                          "counted",
                          "counted_s",
                          "by_cause_s",
                          "records",
                          "dropped_records",
                          "dropped_gpu_records",
                          "tool_cost_s",
                          "gpu_clock_error_s"}) {
    EXPECT_TRUE(json.at("ranks").at(0).contains(key)) << key;
  }
}

TEST(ReportJson, has_no_more_step_entries_than_a_page_can_hold) {
  RecordingBuilder rank(0, 1);
  rank.kernel(0, 1);
  for (std::uint64_t step = 0; step < 4100; ++step) {
    rank.range("step", 100 + step * 100, 200 + step * 100)
        .call({.function = "MPI_Barrier", .begin = 150 + step * 100, .end = 170 + step * 100});
  }
  const nlohmann::json steps = json_of({rank.runs(0, 500'000)}).at("steps");
  EXPECT_EQ(steps.at("count"), 4100);
  EXPECT_EQ(steps.at("mark"), "step");
  EXPECT_LE(steps.at("each").size(), 2000u);
  double exposed_s = 0;
  std::size_t covered = 0;
  for (const nlohmann::json& entry : steps.at("each")) {
    EXPECT_EQ(entry.at("first"), covered);
    covered += entry.at("steps").get<std::size_t>();
    for (const auto& [cause, time_s] : entry.at("by_cause_s").items()) {
      exposed_s += time_s.get<double>();
    }
  }
  EXPECT_EQ(covered, 4100u);
  EXPECT_NEAR(exposed_s, 4100 * 20e-9, 1e-12);
  EXPECT_DOUBLE_EQ(steps.at("start_up").at("total_s").get<double>(), 100e-9);
}

TEST(ReportJson, slowest_steps_are_single_ones_where_many_steps_are_joined) {
  RecordingBuilder rank(0, 1);
  std::uint64_t begin = 0;
  for (std::uint64_t step = 0; step < 4100; ++step) {
    const std::uint64_t waits = step == 2500 ? 9000 : 1000;
    rank.range("step", begin, begin + waits + 1000)
        .kernel(begin, begin + 900)
        .call({.function = "MPI_Win_fence", .begin = begin + 1000, .end = begin + 1000 + waits});
    begin += waits + 1000;
  }
  const nlohmann::json steps = json_of({rank.runs(0, begin)}).at("steps");
  EXPECT_LE(steps.at("each").size(), 2000u);
  EXPECT_EQ(steps.at("slowest").size(), 20u);
  const nlohmann::json& slowest = steps.at("slowest").at(0);
  EXPECT_EQ(slowest.at("first"), 2500u);
  EXPECT_EQ(slowest.at("steps"), 1u);
  EXPECT_DOUBLE_EQ(slowest.at("longest_s"), 10'000e-9);
  EXPECT_DOUBLE_EQ(slowest.at("by_cause_s").at("unattributed"), 9'000e-9);
  EXPECT_DOUBLE_EQ(slowest.at("parts_s").at("kernels"), 900e-9);
  EXPECT_EQ(steps.at("slowest").at(1).at("first"), 0u);
}

TEST(ReportJson, headline_names_the_part_of_the_text_reports_and_has_its_words) {
  RecordingBuilder rank(0, 1);
  rank.runs(0, 1'000'000'000).kernel(0, 300'000'000);
  rank.call({.function = "MPI_Win_fence", .begin = 300'000'000, .end = 400'000'000});
  const TemporaryDirectory directory;
  rank.write(directory.path());
  const Report report = analyse(directory.path());
  const nlohmann::json headline = nlohmann::json::parse(to_json(report)).at("headline");
  EXPECT_EQ(headline.at("part"), "host_code");
  EXPECT_DOUBLE_EQ(headline.at("time_s"), 0.6);
  const auto words = headline.at("words").get<std::string>();
  EXPECT_TRUE(words.starts_with("60.0 % of the run (0.600 s of 1.000 s on rank 0) is host code"));
  EXPECT_NE(to_text(report, {}).find(words.substr(0, 60)), std::string::npos);
}

TEST(ReportJson, headline_of_exposed_communication_names_no_part) {
  RecordingBuilder rank(0, 1);
  rank.runs(0, 1'000'000'000).call({.function = "MPI_Win_fence", .begin = 0, .end = 700'000'000});
  const nlohmann::json headline = json_of({rank}).at("headline");
  EXPECT_TRUE(headline.at("part").is_null());
  EXPECT_DOUBLE_EQ(headline.at("time_s"), 0.7);
}

TEST(ReportJson, absent_is_null_and_not_zero) {
  RecordingBuilder blind = barrier_at(0, 0);
  blind.header().features = trace::feature::gpu_used;
  const nlohmann::json json = json_of({blind, barrier_at(1, 0)});
  EXPECT_EQ(json.at("measure"), "communication_time");
  EXPECT_EQ(json.at("why_not_exposed"), "GPU kernels of rank 0 were not recorded");
  EXPECT_TRUE(json.at("ranks").at(0).at("exposed_s").is_null());
  EXPECT_TRUE(json.at("ranks").at(0).at("overlap").is_null());
  EXPECT_FALSE(json.at("ranks").at(1).at("exposed_s").is_null());
}

TEST(ReportJson, is_valid_whatever_bytes_the_names_have) {
  RecordingBuilder strange = barrier_at(0, 0);
  strange.notice("not UTF-8: \xff\xfe and a quote \" and \n");
  EXPECT_NO_THROW(json_of({strange, barrier_at(1, 0)}));
}

TEST(ReportJson, parts_of_job_ranks_and_steps_sum_to_their_times) {
  RecordingBuilder rank(0, 1);
  rank.runs(0, 4'000'000'000).kernel(0, 500'000'000);
  for (std::uint64_t begin = 0; begin < 4'000'000'000; begin += 1'000'000'000) {
    rank.range("step", begin, begin + 1'000'000'000)
        .call({.function = "MPI_Win_fence", .begin = begin + 500'000'000, .end = begin + 750'000'000});
  }
  const nlohmann::json json = json_of({rank});
  const nlohmann::json& parts = json.at("counted").at("parts_s");
  EXPECT_EQ(parts.size(), 17u);
  EXPECT_DOUBLE_EQ(parts.at("kernels"), 0.5);
  EXPECT_DOUBLE_EQ(parts.at("unattributed"), 1.0);
  EXPECT_DOUBLE_EQ(parts.at("host_code"), 2.5);
  EXPECT_EQ(json.at("ranks").at(0).at("parts_s"), parts);
  EXPECT_DOUBLE_EQ(json.at("steps").at("each").at(1).at("parts_s").at("host_code"), 0.75);
  EXPECT_DOUBLE_EQ(json.at("host_code").at(0).at("host_code_s"), 2.25);
  EXPECT_EQ(json.at("host_code").at(0).at("most_rank"), 0);
  EXPECT_TRUE(json.at("host_code").at(0).at("range").is_null());
  EXPECT_EQ(json.at("host_code").at(0).at("where").get<std::string>().substr(0, 28),
            "between calls of MPI_Win_fen");
}

TEST(ReportJson, parts_are_null_where_kernels_are_not_known) {
  RecordingBuilder rank = barrier_at(0, 0);
  rank.header().features = trace::feature::gpu_used;
  const nlohmann::json json = json_of({rank, barrier_at(1, 0)});
  EXPECT_TRUE(json.at("counted").at("parts_s").is_null());
  EXPECT_TRUE(json.at("ranks").at(0).at("parts_s").is_null());
  EXPECT_TRUE(json.at("host_code").empty());
}

TEST(ReportJson, flaws_carry_file_and_offset) {
  RecordingBuilder rank = barrier_at(0, 0);
  trace::MpiCall unknown{};
  unknown.kind = static_cast<trace::RecordKind>(99);
  const nlohmann::json json = json_of({rank.raw(unknown), barrier_at(1, 0)});
  ASSERT_EQ(json.at("flaws").size(), 1u);
  EXPECT_TRUE(json.at("flaws").at(0).at("file").get<std::string>().ends_with("rank-0.penstock"));
  EXPECT_TRUE(json.at("flaws").at(0).at("offset_bytes").is_number());
}

}  // namespace
}  // namespace penstock::analysis
