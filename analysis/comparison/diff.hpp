// Compares two versions of a program, each run once or several times: what became faster or slower, and what
// is jitter. Uses finished reports alone. Must not know how the result is printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

enum class Verdict : std::uint8_t {
  less,  ///< the change is larger than chance explains
  more,
  jitter,   ///< the change may be chance
  unknown,  ///< one run each, and the runs do not show how much the figure varies; or records are missing
};

/// Returns "less", "more", "jitter" or "unknown".
[[nodiscard]] std::string_view identifier_of(Verdict verdict) noexcept;

/// A figure of both versions. Unit: ns of the average rank, per step or per run.
struct DiffRow {
  std::string name;
  double before_ns = 0;
  double after_ns = 0;
  std::optional<double> margin_ns;  ///< half of the 95 % confidence interval of the change
  Verdict verdict = Verdict::unknown;
  /// In a history: by how much runs differ without a change, which margin_ns is at least (`widen_by_runs`);
  /// none: not known.
  std::optional<double> runs_margin_ns = std::nullopt;
};

/// Returns what a row's margin says of its change.
[[nodiscard]] Verdict verdict_on(const DiffRow& row);

/// Describes what was run.
struct ComparedState {
  std::string program;
  std::string mpi_version;
  std::vector<std::string> hosts;
  std::vector<std::string> devices;
  std::int32_t world_size = 0;
  std::uint64_t began_realtime_ns = 0;
  bool simulated_gpu = false;
};

/// Returns the divisor by which a report's sums become those of the average rank, of a step or of the run.
[[nodiscard]] double shares_of(const Report& report, bool is_by_step);

[[nodiscard]] ComparedState state_of(const Report& report);

struct Diff {
  std::size_t runs_before = 0;
  std::size_t runs_after = 0;
  ComparedState before;  ///< of repeated runs the first
  ComparedState after;
  bool is_known = true;     ///< false: records of some run are missing, and no verdict can be given
  bool is_by_step = false;  ///< false: by run
  bool is_exposed = false;  ///< false: communication time is compared
  bool from_steps = false;  ///< one run each: margins come from how its steps vary; repeated runs may vary
                            ///< more
  std::size_t other_pairs = 0;  ///< in a history: neighbours from which runs_margin_ns is known; 0: from none
  std::vector<DiffRow> totals;
  std::vector<DiffRow> parts;  ///< sum to the first total; empty: not known of some run
  std::vector<DiffRow> causes;
  std::vector<DiffRow> call_sites;   ///< largest change first
  std::vector<DiffRow> regions;      ///< NVTX ranges by name, the time in them; they may nest
  std::vector<std::string> remarks;  ///< why the two may not be comparable
};

/// Compares the runs; neither list may be empty. Margins: Welch's t interval of the runs' means; with one run
/// each, of the means of twenty batches of its steps (neighbouring steps are alike, batches less so).
[[nodiscard]] Diff compare(const std::vector<Report>& before, const std::vector<Report>& after);

}  // namespace penstock::analysis
