// Makes the report of a recording that a test wrote. Test only.
#pragma once

#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis::testing {

[[nodiscard]] inline Report report_on(const std::vector<RecordingBuilder>& ranks,
                                      const AnalysisOptions& options = {}) {
  const TemporaryDirectory directory;
  for (const RecordingBuilder& each : ranks) {
    each.write(directory.path());
  }
  return analyse(directory.path(), options);
}

/// Of the whole run: no steps are looked for.
[[nodiscard]] inline Report whole_report_on(const std::vector<RecordingBuilder>& ranks) {
  return report_on(ranks, {.whole_run = true});
}

}  // namespace penstock::analysis::testing
