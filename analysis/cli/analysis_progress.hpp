// A bar while an analysis takes longer than a second; it is gone before anything else is printed.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/cli/progress_bar.hpp"
#include "analysis/pipeline/analyse.hpp"

namespace penstock::cli {

/// What `analyse` returns, which is called with the options and the bar.
template <typename Analyse>
analysis::Report with_progress(analysis::AnalysisOptions options, const Analyse& analyse) {
  PatientBar bar;
  options.progress = [&bar](std::size_t done, std::size_t all, const std::string& what) {
    bar.show(done, all, what);
  };
  return analyse(options);
}

}  // namespace penstock::cli
