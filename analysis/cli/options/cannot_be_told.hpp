// What commands say and return where a recording does not tell what was asked for.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/layout/text_table.hpp"
#include "analysis/report/report.hpp"

namespace penstock::cli {

/// The exit code where records, or the step that was asked for, are missing; as that of `report --fail-if`.
inline constexpr int cannot_be_told = 4;

/// Returns "… has no NVTX range "x"; without --step, steps are searched for".
[[nodiscard]] inline std::string missing_step_text(const std::filesystem::path& recording,
                                                   const analysis::Report& report) {
  return fmt::format("{} has no NVTX range \"{}\"; without --step, steps are searched for",
                     recording.string(), report.missing_step);
}

/// Returns whether all reports, made of these recordings in this order, have the step that was asked for, if
/// any was. Says on stderr which have not.
[[nodiscard]] inline bool have_wanted_step(const char* command,
                                           const std::vector<std::filesystem::path>& recordings,
                                           const std::vector<analysis::Report>& reports) {
  bool all = true;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].missing_step.empty()) continue;
    all = false;
    fmt::print(stderr, "penstock {}: {}\n", command,
               analysis::printable(missing_step_text(recordings[i], reports[i])));
  }
  return all;
}

}  // namespace penstock::cli
