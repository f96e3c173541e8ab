#include "analysis/comparison/trend_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t commit_columns = 9;

}  // namespace

std::string recording_of(const TrendRun& run) {
  return run.recording;
}

std::string job_of(const TrendRun& run) {
  return run.facts.batch_job;
}

std::string ranks_of(const TrendRun& run) {
  return std::to_string(run.state.world_size);
}

std::string hosts_of(const TrendRun& run) {
  return fmt::format("{}", fmt::join(run.state.hosts, ", "));
}

std::string gpus_of(const TrendRun& run) {
  return run.state.simulated_gpu ? "simulated GPU" : fmt::format("{}", fmt::join(run.state.devices, ", "));
}

std::string gpus_or_none_of(const TrendRun& run) {
  const std::string gpus = gpus_of(run);
  return gpus.empty() ? "none" : gpus;
}

std::string driver_of(const TrendRun& run) {
  return run.facts.driver;
}

std::string mpi_of(const TrendRun& run) {
  return short_version(run.state.mpi_version);
}

std::string commit_of(const TrendRun& run) {
  return run.facts.commit.substr(0, commit_columns);
}

std::string common(const Trend& trend, RunFact fact) {
  const std::string first = fact(trend.runs.front());
  const bool is_common = std::all_of(trend.runs.begin(), trend.runs.end(),
                                     [&](const TrendRun& run) { return fact(run) == first; });
  return is_common ? first : "";
}

bool differ(const Trend& trend, RunFact fact) {
  const std::string first = fact(trend.runs.front());
  return std::any_of(trend.runs.begin(), trend.runs.end(),
                     [&](const TrendRun& run) { return fact(run) != first; });
}

}  // namespace penstock::analysis
