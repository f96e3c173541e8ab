// Compares two states of a program, each run once or several times: what became faster or slower, told from
// jitter. Goes by finished reports alone. Knows no text.
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
  jitter,   ///< it is not
  unknown,  ///< one run each, and nothing in them says how much it varies
};

/// "less", "more", "jitter", "unknown"
[[nodiscard]] std::string_view identifier_of(Verdict verdict) noexcept;

/// A figure in both states. Unit: ns of the average rank, by step or by run.
struct DiffRow {
  std::string name;
  double before_ns = 0;
  double after_ns = 0;
  std::optional<double> margin_ns;  ///< half of the 95 % confidence interval of the change
  Verdict verdict = Verdict::unknown;
};

/// What was run.
struct ComparedState {
  std::string program;
  std::string mpi_version;
  std::vector<std::string> hosts;
  std::vector<std::string> devices;
  std::int32_t world_size = 0;
  std::uint64_t began_realtime_ns = 0;
  bool simulated_gpu = false;
};

struct Diff {
  std::size_t runs_before = 0;
  std::size_t runs_after = 0;
  ComparedState before;  ///< of repeated runs the first
  ComparedState after;
  bool is_by_step = false;  ///< else by run
  bool is_exposed = false;  ///< else communication time is compared
  bool from_steps = false;  ///< one run each: margins are from how its steps vary, which repeats may exceed
  std::vector<DiffRow> totals;
  std::vector<DiffRow> causes;
  std::vector<DiffRow> call_sites;   ///< largest change first
  std::vector<std::string> remarks;  ///< why the two are perhaps not comparable
};

/// Neither may be empty. Margins: Welch's t interval of the runs' means; of one run each, of the means of
/// twenty batches of its steps (steps that follow each other are alike, batches are less so).
[[nodiscard]] Diff compare(const std::vector<Report>& before, const std::vector<Report>& after);

}  // namespace penstock::analysis
