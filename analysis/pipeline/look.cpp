#include "analysis/pipeline/look.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/recording/job.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/trace_reader.hpp"
#include "analysis/unfinished/unfinished.hpp"

namespace penstock::analysis {
namespace {

/// Read in a few seconds from memory, where what was just written is.
constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

void take_in(Report& report, const trace::FileHeader& header) {
  const auto add = [](std::vector<std::string>& names, const char* name) {
    if (*name != '\0' && std::find(names.begin(), names.end(), name) == names.end()) {
      names.emplace_back(name);
    }
  };
  const std::uint64_t began_ns = header.begin_ns + header.realtime_offset_ns;
  report.began_realtime_ns = report.program.empty() ? began_ns : std::min(report.began_realtime_ns, began_ns);
  report.program = header.program;
  report.mpi_version = header.mpi_version;
  report.world_size = header.world_size;
  report.simulated_gpu = report.simulated_gpu || (header.features & trace::feature::simulated) != 0;
  add(report.hosts, header.host_name);
  add(report.devices, header.device_name);
}

/// Keeps the facts of a file, whose names may come behind them.
struct FactReader {
  void operator()(const trace::Text& record, const trace::BlockHeader&) { strings.append(record); }
  void operator()(const trace::Fact& record, const trace::BlockHeader&) { facts.push_back(record); }
  template <typename Record>
  void operator()(const Record&, const trace::BlockHeader&) {}

  Strings strings;
  std::vector<trace::Fact> facts;
};

/// The first rank's file begins with them.
RunFacts facts_in(const std::filesystem::path& file) {
  constexpr std::uint64_t enough_bytes = std::uint64_t{8} << 20;
  TraceReader reader(file);
  reader.read_at_most(enough_bytes);
  FactReader read;
  static_cast<void>(reader.for_each(read));  // flaws are told by whoever reads all
  RunFacts facts;
  for (const trace::Fact& each : read.facts) {
    std::string* const fact = fact_named(facts, read.strings.at(each.name));
    if (fact != nullptr) *fact = read.strings.at(each.value);
  }
  return facts;
}

}  // namespace

Report look_at_job(const std::filesystem::path& path, const SkipPatterns& skip) {
  Job job = find_job(path);
  Report report;
  for (const std::filesystem::path& file : job.files) {
    take_in(report, TraceReader(file).header());
  }
  if (!job.files.empty()) report.facts = facts_in(job.files.front());
  report.flaws = std::move(job.flaws);
  KeptNames kept(path);
  report.unfinished = look_at_unfinished(job, {most_bytes, skip, &kept});
  kept.save();
  if (report.unfinished) {
    const std::vector<Flaw>& flaws = report.unfinished->flaws;
    report.flaws.insert(report.flaws.end(), flaws.begin(), flaws.end());
  }
  return report;
}

}  // namespace penstock::analysis
