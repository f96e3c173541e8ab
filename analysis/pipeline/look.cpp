#include "analysis/pipeline/look.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/recording/job.hpp"
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

}  // namespace

Report look_at_job(const std::filesystem::path& path, const SkipPatterns& skip) {
  Job job = find_job(path);
  Report report;
  for (const std::filesystem::path& file : job.files) {
    take_in(report, TraceReader(file).header());
  }
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
