// Has runs that are compared read again if their steps are not the same ones. Shared by the commands that
// compare.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analysis/comparison/common_steps.hpp"
#include "analysis/pipeline/analyse.hpp"

namespace penstock::cli {

/// Adds the reports of runs to a list. `report_of`: how a run has its report.
template <typename Runs, typename ReportOf = std::identity>
void add_reports(std::vector<const analysis::Report*>& all, const Runs& runs, ReportOf report_of = {}) {
  for (const auto& run : runs) {
    all.push_back(&std::invoke(report_of, run));
  }
}

/// Calls `read(options)`, which reads all runs, until their steps are the same ones: those that were found or
/// asked for, else those of a range that all have, else the whole runs. `reports()` returns those that were
/// read last.
template <typename Read, typename Reports>
void read_with_common_steps(analysis::AnalysisOptions options, Read read, Reports reports) {
  read(options);
  if (options.whole_run || !options.step_range.empty()) {
    return;
  }
  const std::vector<const analysis::Report*> found = reports();
  const std::size_t count = found.size();
  const analysis::CommonSteps steps = analysis::common_steps(found);
  if (steps.are_alike) {
    return;
  }
  for (const std::string& range : steps.ranges) {
    options.step_range = range;
    read(options);
    const std::vector<const analysis::Report*> all = reports();
    if (all.size() == count && std::all_of(all.begin(), all.end(), [](const analysis::Report* each) {
          return each->missing_step.empty();
        })) {
      return;
    }
  }
  options.step_range.clear();
  options.whole_run = true;  // steps of some runs cannot be compared with others
  read(options);
}

}  // namespace penstock::cli
