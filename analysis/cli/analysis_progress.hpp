// Shows a bar while an analysis takes longer than a second, and removes it before anything else is printed.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/cli/progress_bar.hpp"
#include "analysis/pipeline/analyse.hpp"

namespace penstock::cli {

/// Calls `analyse` with the options and the bar; returns its result.
template <typename Analyse>
analysis::Report with_progress(analysis::AnalysisOptions options, const Analyse& analyse) {
  PatientBar bar;
  options.progress = [&bar](std::size_t done, std::size_t all, const std::string& what) {
    bar.show(done, all, what);
  };
  return analyse(options);
}

}  // namespace penstock::cli
