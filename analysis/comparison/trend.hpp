// A history of a program: what its runs took, one after the other, and which changes are more than jitter.
// Each run is compared with the one before it as `penstock diff` compares two, and the change is then held
// against what other runs of the program differ by (run_spread). Uses finished reports alone.
// Must not know how the result is printed.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/diff.hpp"
#include "analysis/report/replay_figures.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// A report, and what it is called.
struct NamedReport {
  std::string recording;
  Report report;
};

/// A recording that could not be read, has not the step that was asked for, or is of a run that counts
/// already.
struct LeftOut {
  std::string recording;
  std::string why;
};

/// How long the steps of a run take, each on the average rank. Unit: ns.
struct StepQuartiles {
  double low = 0;
  double median = 0;
  double high = 0;
};

/// Times of the average rank, of a step or of the run. Unit: ns.
struct TrendRegion {
  double total_ns = 0;
  std::optional<double> counted_ns;  ///< as TrendRun::counted_share
};

/// Times of the average rank, of a step or of the run.
struct TrendRun {
  std::string recording;
  ComparedState state;
  RunFacts facts;
  std::string what_is_missing;  ///< of its records; empty: nothing
  std::size_t steps = 0;        ///< 0: by run
  double time_ns = 0;
  std::optional<StepQuartiles> step_quartiles;  ///< none: by run
  std::optional<double> counted_share;          ///< exposed, or in MPI, by Trend::is_exposed; none: not known
  std::optional<std::array<double, part_count>> parts_ns;  ///< none: not known
  std::optional<EfficiencyFigures> efficiency;             ///< none: not replayed
  std::optional<GpuEfficiencyFigures> gpu_efficiency;      ///< likewise
  std::vector<std::optional<TrendRegion>> regions;         ///< as Trend::regions; none: it has no such range
  std::optional<Diff> change;                              ///< from the run before it; none: it is the first
};

struct Trend {
  bool is_by_step = false;
  bool is_exposed = false;
  std::vector<std::string> regions;  ///< NVTX ranges that were asked for
  std::vector<TrendRun> runs;        ///< oldest first; never empty
  /// The newest run's time against the first one's, which are not neighbours; none: there are fewer than
  /// three.
  std::optional<DiffRow> since_first;
};

/// Orders reports by when their runs began; equal ones keep their order.
void order_by_begin(std::vector<NamedReport>& reports);

/// `reports`: oldest first, not empty. `regions`: names of NVTX ranges.
[[nodiscard]] Trend trend_of(const std::vector<NamedReport>& reports, std::vector<std::string> regions);

}  // namespace penstock::analysis
