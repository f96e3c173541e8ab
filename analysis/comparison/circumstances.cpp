#include "analysis/comparison/circumstances.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

std::string gpus_or_none(const Report& report) {
  return report.simulated_gpu     ? "simulated"
         : report.devices.empty() ? "none"
                                  : fmt::format("{}", fmt::join(report.devices, ", "));
}

}  // namespace

void add_if_differ(std::vector<std::string>& remarks, const char* what, const std::vector<Report>& before,
                   const std::vector<Report>& after,
                   const std::function<std::string(const Report& report)>& text_of) {
  std::vector<std::string> texts;
  for (const std::vector<Report>* const reports : {&before, &after}) {
    for (const Report& each : *reports) {
      std::string text = text_of(each);
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
        texts.push_back(std::move(text));
      }
    }
  }
  if (texts.size() > 1) {
    remarks.push_back(fmt::format("{} differ: {}", what, fmt::join(texts, "; ")));
  }
}

std::vector<std::string> circumstances_that_differ(const std::vector<Report>& before,
                                                   const std::vector<Report>& after) {
  std::vector<std::string> remarks;
  add_if_differ(remarks, "numbers of ranks", before, after,
                [](const Report& report) { return std::to_string(report.world_size); });
  add_if_differ(remarks, "GPUs", before, after, gpus_or_none);
  add_if_differ(remarks, "MPI libraries", before, after,
                [](const Report& report) { return short_version(report.mpi_version); });
  add_if_differ(remarks, "commands", before, after,
                [](const Report& report) { return command_text(report.program); });
  return remarks;
}

}  // namespace penstock::analysis
