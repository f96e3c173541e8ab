// The whole way, as a user goes it: an example under `penstock run` on real ranks, then `penstock export` to
// each format, and what was exported beside what the recording holds.
//   job_export_test MPI_LAUNCH FAMILY EXAMPLE PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "analysis/recording/job.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/recording_builder.hpp"
#ifdef PENSTOCK_HAS_PROTOZERO
#include "tests/analysis/export/perfetto_reader.hpp"
#endif
#ifdef PENSTOCK_HAS_OTF2
#include "tests/analysis/export/otf2_reader.hpp"
#endif

namespace penstock::analysis {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// One recording for all tests.
class JobExport : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new testing::TemporaryDirectory;
    ASSERT_EQ(
        exit_code_of(fmt::format("{} {} 2 -- {} run -o {} {} --lattice 16 --sweeps 10 >{} 2>&1", mpi_launch,
                                 family, penstock_command, at("recording"), program, at("log"))),
        0)
        << content_of(at("log"));
  }
  static void TearDownTestSuite() { delete directory_; }
  void SetUp() override {
    for (const std::filesystem::path& file : find_job(at("recording")).files)
      ranks_.push_back(load_rank(file));
    ASSERT_EQ(ranks_.size(), 2u);
  }
  static std::string at(const std::string& name) { return (directory_->path() / name).string(); }
  static void export_to(const std::string& format, const std::string& name) {
    ASSERT_EQ(exit_code_of(fmt::format("{} export {} {} {} >{} 2>&1", penstock_command, at("recording"),
                                       format, at(name), at("log"))),
              0)
        << content_of(at("log"));
  }
  /// Over all ranks.
  template <typename Count>
  [[nodiscard]] std::size_t sum(Count count) const {
    std::size_t all = 0;
    for (const RankTrace& rank : ranks_) all += count(rank);
    return all;
  }
  std::vector<RankTrace> ranks_;

 private:
  static inline testing::TemporaryDirectory* directory_ = nullptr;
};

#ifdef PENSTOCK_HAS_PROTOZERO
TEST_F(JobExport, perfetto_has_every_call_kernel_and_transfer_at_its_time_and_every_message) {
  export_to("--perfetto", "trace");
  const testing::PerfettoTrace trace = testing::read_perfetto(at("trace"));
  using Place = std::tuple<std::string, std::uint64_t, std::uint64_t>;
  std::map<std::string, std::vector<Place>> by_category;
  std::map<std::uint64_t, int> flows;
  for (const testing::TracedSlice& slice : trace.slices) {
    by_category[slice.category].emplace_back(slice.name, slice.begin_ns, slice.end_ns);
    for (const std::uint64_t flow : slice.flows_begun) flows[flow] += 1;
    for (const std::uint64_t flow : slice.flows_ended) flows[flow] += 100;
  }
  std::vector<Place> calls;
  for (const RankTrace& rank : ranks_) {
    for (const Call& call : rank.calls) {
      calls.emplace_back(rank.strings.at(call.record.function), call.record.begin_ns, call.record.end_ns);
    }
  }
  std::sort(calls.begin(), calls.end());
  std::sort(by_category["mpi"].begin(), by_category["mpi"].end());
  EXPECT_EQ(by_category["mpi"], calls);
  const auto of_application = [](const RankTrace& rank) {
    return static_cast<std::size_t>(std::count_if(rank.kernels.begin(), rank.kernels.end(),
                                                  [](const auto& kernel) { return kernel.own == 0; }));
  };
  EXPECT_EQ(by_category["kernel"].size(), sum(of_application));
  EXPECT_GT(by_category["kernel"].size(), 0u);
  EXPECT_EQ(by_category["transfer"].size(), sum([](const RankTrace& rank) { return rank.transfers.size(); }));
  EXPECT_EQ(by_category["nvtx"].size(), sum([](const RankTrace& rank) { return rank.ranges.size(); }));
  EXPECT_EQ(2 * flows.size(), sum([](const RankTrace& rank) { return rank.halves.size(); }));
  for (const auto& [flow, ends] : flows) EXPECT_EQ(ends, 101) << "flow " << flow;
}
#endif

TEST_F(JobExport, the_tables_have_a_row_a_record) {
  export_to("--csv", "tables");
  const auto rows = [](const std::string& table) {
    const std::string text = content_of(at("tables/" + table));
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) - 1;
  };
  EXPECT_EQ(rows("ranks.csv"), 2u);
  EXPECT_EQ(rows("mpi_calls.csv"), sum([](const RankTrace& rank) { return rank.calls.size(); }));
  EXPECT_EQ(2 * rows("messages.csv"), sum([](const RankTrace& rank) { return rank.halves.size(); }));
  EXPECT_EQ(rows("transfers.csv"), sum([](const RankTrace& rank) { return rank.transfers.size(); }));
  EXPECT_EQ(rows("gpu_activities.csv"),
            sum([](const RankTrace& rank) { return rank.kernels.size() + rank.copies.size(); }));
  EXPECT_EQ(rows("ranges.csv"), sum([](const RankTrace& rank) { return rank.ranges.size(); }));
  EXPECT_NE(content_of(at("tables/mpi_calls.csv")).find("simulation.cpp"), std::string::npos)
      << "call sites are named";
}

#ifdef PENSTOCK_HAS_OTF2
TEST_F(JobExport, the_OTF2_archive_is_sound_and_has_every_call_message_and_kernel) {
  export_to("--otf2", "archive");
  const testing::Otf2Archive archive = testing::read_otf2(at("archive"));
  EXPECT_NO_THROW(archive.require_sound());
  std::map<std::string, std::size_t> calls;
  std::size_t messages_sent = 0;
  std::size_t messages_received = 0;
  std::size_t activities = 0;
  for (const auto& [number, location] : archive.locations) {
    for (const testing::ArchivedEvent& event : location.events) {
      if (event.kind == "send" || event.kind == "isend") ++messages_sent;
      if (event.kind == "recv" || event.kind == "irecv") ++messages_received;
      if (event.kind != "enter") continue;
      number >> 32 == 0 ? ++calls[event.region] : ++activities;
    }
  }
  std::map<std::string, std::size_t> recorded;
  for (const RankTrace& rank : ranks_) {
    for (const Call& call : rank.calls) ++recorded[rank.strings.at(call.record.function)];
  }
  for (const auto& [function, count] : recorded) EXPECT_EQ(calls[function], count) << function;
  EXPECT_EQ(messages_sent + messages_received, sum([](const RankTrace& rank) { return rank.halves.size(); }));
  EXPECT_EQ(messages_sent, messages_received);
  EXPECT_EQ(activities, sum([](const RankTrace& rank) { return rank.kernels.size() + rank.copies.size(); }));
}
#endif

}  // namespace
}  // namespace penstock::analysis
