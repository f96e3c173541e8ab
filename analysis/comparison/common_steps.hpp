// Says whether the steps of several runs are the same ones: a step is another where another mark begins it.
// Uses finished reports alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

struct CommonSteps {
  bool are_alike = true;  ///< one mark begins the steps of all runs, or none has steps
  /// Otherwise the NVTX ranges that begin the steps of some: the others may have them, too.
  std::vector<std::string> ranges;
};

/// A call of MPI is the same mark wherever it stands in its source file: lines change from version to
/// version.
[[nodiscard]] CommonSteps common_steps(std::span<const Report* const> reports);

}  // namespace penstock::analysis
