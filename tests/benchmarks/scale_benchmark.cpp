// Reports of large jobs: writes recordings whose report is known, reports them, compares every figure and
// says how long it took and how much memory. By hand: the largest job is 256 GB.
//
//   scale_benchmark write DIR --ranks 4096 --events 1000000
//   scale_benchmark check DIR --ranks 4096 --events 1000000
#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "tests/analysis/known_job_check.hpp"

namespace {

using namespace penstock;
using analysis::testing::KnownJob;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void write(const KnownJob& job, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  std::uint64_t records = 0;
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    records += job.write(rank, directory);
  }
  fmt::print("{} ranks, {} steps, {} records\n", job.ranks(), job.steps(), records);
}

int check(const KnownJob& job, const std::filesystem::path& directory, const std::filesystem::path& json,
          unsigned threads) {
  const auto began = std::chrono::steady_clock::now();
  const analysis::Report report = analysis::analyse(directory, {.threads = threads});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::uint64_t records = 0;
  for (const analysis::RankFigures& rank : report.ranks) {
    records += rank.records;
  }
  const double cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  const auto millions = static_cast<double>(records) * 1e-6;
  fmt::print(
      "{} ranks, {} records, {:.2f} s, CPU {:.2f} s ({:.2f} in the system): {:.2f} M records/s, {:.2f} "
      "a CPU second; at most {:.0f} MB; {}\n",
      report.ranks.size(), records, took.count(), cpu_s, seconds_of(usage.ru_stime), millions / took.count(),
      millions / cpu_s, static_cast<double>(usage.ru_maxrss) / 1024,
      report.replay ? "replayed" : report.why_no_replay);
  if (!json.empty()) {
    std::ofstream(json) << analysis::to_json(report) << '\n';
  }
  const std::vector<std::string> differences = analysis::testing::differences(report, job);
  for (const std::string& line : differences) {
    fmt::print("{}\n", line);
  }
  fmt::print("{}\n", differences.empty() ? "every figure is as known" : "WRONG");
  return differences.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App application("Reports of large jobs whose answer is known");
  application.require_subcommand(1);
  std::filesystem::path directory;
  std::int32_t ranks = 64;
  std::uint64_t events = 100'000;
  for (const auto& [name, what] : {std::pair("write", "Write the recordings"),
                                   std::pair("check", "Report them and compare every figure")}) {
    CLI::App* const command = application.add_subcommand(name, what);
    command->add_option("directory", directory)->required();
    command->add_option("--ranks", ranks, "An even number")->capture_default_str();
    command->add_option("--events", events, "Of each rank, about")->capture_default_str();
  }
  std::filesystem::path json;
  application.get_subcommand("check")->add_option("--json", json, "Write the report there, to be compared");
  unsigned threads = 1;
  application.get_subcommand("check")->add_option("--threads", threads)->capture_default_str();
  CLI11_PARSE(application, argc, argv);
  try {
    const KnownJob job(ranks, events);
    if (application.got_subcommand("write")) {
      write(job, directory);
      return 0;
    }
    return check(job, directory, json, threads);
  } catch (const std::exception& error) {
    fmt::print(stderr, "scale_benchmark: {}\n", error.what());
    return 2;
  }
}
