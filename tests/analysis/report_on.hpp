// Makes the report of a recording that a test wrote. Test only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
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

/// Returns what the job would take in that row of the what-ifs. A test without that row fails.
[[nodiscard]] inline std::uint64_t total_of(const ReplayFigures& replay, std::string_view what) {
  for (const WhatIfFigures& each : replay.what_if) {
    if (each.what == what) {
      return each.total_ns;
    }
  }
  ADD_FAILURE() << what;
  return 0;
}

}  // namespace penstock::analysis::testing
