// A job whose numbers of messages and bytes are known, and what the report and its exports count; and the
// same job with a recording that is too small for it. Built once, as job_report_test is:
//   job_counts_test MPI_LAUNCH FAMILY KNOWN_COUNTS PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

struct Counts {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& counts) {
    return out << counts.messages << " messages, " << counts.bytes << " bytes";
  }
};

// Of known_counts.cpp. From rank 0: 2,000 of 16 bytes, 30 of 4,000, 20 of 1,200, 7 of 480; from rank 1 the
// same 30 and 20.
constexpr Counts small{2000, 2000 * 16};
constexpr Counts strided{7, 7 * 480};
constexpr Counts from_each{30 + 20, 30 * 4000 + 20 * 1200};

class JobCounts : public ::testing::Test {
 protected:
  /// Returns false if there is no GPU.
  bool record(const std::string& environment = "") {
    const int code = exit_code_of(fmt::format("{} {} {} 2 -- {} run -o {}/recording {}", environment,
                                              mpi_launch, family, penstock_command, path_, program));
    EXPECT_TRUE(code == 0 || code == 77) << code;
    return code == 0;
  }
  int report(const std::string& options) {
    return exit_code_of(fmt::format("{} report {} {}/recording >{}/report 2>{}/errors", penstock_command,
                                    options, path_, path_, path_));
  }
  nlohmann::json json() {
    EXPECT_EQ(report("--json --whole-run"), 0);
    std::ifstream in(path_ + "/report");
    return nlohmann::json::parse(in);
  }

  const testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path().string();
};

void add(Counts& counts, const nlohmann::json& row) {
  counts.messages += row.at("messages").get<std::uint64_t>();
  counts.bytes += row.at("bytes").get<std::uint64_t>();
}

TEST_F(JobCounts, each_message_is_counted_once_by_what_the_program_sent) {
  if (!record()) {
    GTEST_SKIP() << "no GPU";
  }
  const nlohmann::json report = json();

  Counts up_to_1_kib;
  Counts up_to_64_kib;
  for (const nlohmann::json& row : report.at("transports")) {
    EXPECT_TRUE(row.at("messages") == 0 || row.at("parts") == 0);
    if (row.at("messages") == 0) {
      EXPECT_EQ(row.at("bytes"), 0);
      continue;
    }
    EXPECT_EQ(row.at("source"), "device") << row;
    EXPECT_EQ(row.at("destination"), "device") << row;
    EXPECT_NE(row.at("transport"), "none") << row;
    EXPECT_NE(row.at("transport"), "mpi") << row;
    EXPECT_NE(row.at("reason"), "") << row;
    add(row.at("size_limit_bytes") == 1024 ? up_to_1_kib : up_to_64_kib, row);
  }
  EXPECT_EQ(up_to_1_kib, (Counts{small.messages + strided.messages, small.bytes + strided.bytes}));
  EXPECT_EQ(up_to_64_kib, (Counts{2 * from_each.messages, 2 * from_each.bytes}));

  std::map<std::pair<int, int>, Counts> pairs;
  for (const nlohmann::json& cell : report.at("matrix").at("pairs")) {
    add(pairs[{cell.at("sender"), cell.at("receiver")}], cell);
  }
  EXPECT_EQ(pairs.size(), 2u);
  EXPECT_EQ((pairs[{0, 1}]), (Counts{small.messages + strided.messages + from_each.messages,
                                     small.bytes + strided.bytes + from_each.bytes}));
  EXPECT_EQ((pairs[{1, 0}]), from_each);
}

TEST_F(JobCounts, messages_of_16_bytes_between_gpus_have_one_row_with_transport_and_reason) {
  if (!record()) {
    GTEST_SKIP() << "no GPU";
  }
  int rows = 0;
  const nlohmann::json transports = json().at("transports");
  for (const nlohmann::json& row : transports) {
    rows += row.at("messages") == small.messages && row.at("bytes") == small.bytes ? 1 : 0;
  }
  EXPECT_EQ(rows, 1) << transports.dump(1);
}

TEST_F(JobCounts, calls_are_those_of_the_program_and_collectives_by_kernels_have_a_transport) {
  if (!record()) {
    GTEST_SKIP() << "no GPU";
  }
  const nlohmann::json report = json();
  std::map<std::string, std::uint64_t> calls;
  for (const nlohmann::json& row : report.at("mpi_functions")) {
    calls[row.at("mpi_function")] += row.at("calls").get<std::uint64_t>();
  }
  const std::map<std::string, std::uint64_t> expected{
      {"MPI_Send", 2000},    {"MPI_Recv", 2007}, {"MPI_Sendrecv", 60},   {"MPI_Isend", 40},
      {"MPI_Waitall", 40},   {"MPI_Ssend", 7},   {"MPI_Allreduce", 200}, {"MPI_Alltoall", 100},
      {"MPI_Allgather", 80}, {"MPI_Bcast", 20}};
  for (const auto& [function, count] : expected) {
    EXPECT_EQ(calls[function], count) << function;
  }
  std::map<std::string, std::uint64_t> collectives;
  bool any_by_kernels = false;
  for (const nlohmann::json& row : report.at("collectives")) {
    const std::string function = row.at("mpi_function");
    collectives[function] += row.at("calls").get<std::uint64_t>();
    any_by_kernels = any_by_kernels || row.at("transport") == "fused";
    if (function == "MPI_Allreduce" || function == "MPI_Alltoall") {  // all ranks take part in the moving
      EXPECT_NE(row.at("transport"), "none") << row;
    }
  }
  EXPECT_TRUE(any_by_kernels || !report.at("job").at("simulated_gpu").get<bool>());
  for (const char* function : {"MPI_Allreduce", "MPI_Alltoall", "MPI_Allgather", "MPI_Bcast"}) {
    EXPECT_EQ(collectives[function], expected.at(function)) << function;
  }
}

TEST_F(JobCounts, csv_has_a_row_for_each_message_with_its_transport) {
  if (!record()) {
    GTEST_SKIP() << "no GPU";
  }
  ASSERT_EQ(exit_code_of(fmt::format("{} export --csv {}/csv {}/recording >/dev/null", penstock_command,
                                     path_, path_)),
            0);
  std::ifstream in(path_ + "/csv/messages.csv");
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_NE(line.find("send_buffer,receive_buffer,transport"), std::string::npos) << line;
  Counts counts;
  while (std::getline(in, line)) {
    ++counts.messages;
    EXPECT_NE(line.find(",device,device,"), std::string::npos) << line;
    EXPECT_EQ(line.find(",device,device,,"), std::string::npos) << line;
  }
  EXPECT_EQ(counts.messages, small.messages + strided.messages + 2 * from_each.messages);
}

TEST_F(JobCounts, a_recording_that_reached_its_limit_says_how_far_it_knows_and_decides_nothing) {
  if (!record("PENSTOCK_TRACE_LIMIT=900K")) {
    GTEST_SKIP() << "no GPU";
  }
  const nlohmann::json part = json().at("recorded_part");
  ASSERT_FALSE(part.is_null());
  EXPECT_LT(part.at("recorded_s"), part.at("run_s"));
  EXPECT_EQ(report("--fail-if 'exposed > 10%'"), 4);
  EXPECT_EQ(report("--fail-if 'exposed > 99.9%'"), 4);
  std::ifstream in(path_ + "/report");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_NE(text.find("! recorded up to "), std::string::npos) << text;
  EXPECT_EQ(text.find("used no GPU"), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock::analysis
