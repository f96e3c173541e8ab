// Predicts a program's time on other numbers of ranks from several runs. Each part of the average rank's time
// is fitted separately, because kernels, host code, messages and waits scale differently. Uses finished
// reports alone. Must not know how the result is printed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.hpp"
#include "analysis/scaling/scaling_law.hpp"

namespace penstock::analysis {

/// The parts that make up the average rank's time.
enum class ScalingPart : std::uint8_t {
  kernels,    ///< its GPU computes; if kernels are unknown, part of host_code
  host_code,  ///< neither kernels nor MPI
  wire,       ///< exposed: data moves, is packed or staged
  waiting,    ///< exposed: for other ranks or the GPU, and unattributed time
};
inline constexpr std::size_t scaling_part_count = 4;
template <typename Value>
using ByScalingPart = std::array<Value, scaling_part_count>;

/// Return the name for people and for machines.
[[nodiscard]] std::string_view name_of(ScalingPart part) noexcept;
[[nodiscard]] std::string_view identifier_of(ScalingPart part) noexcept;

/// The change of a rank's work from run to run.
enum class ScalingSeries : std::uint8_t {
  strong,   ///< the same total work, shared by more ranks
  weak,     ///< the same work for each rank
  neither,  ///< anything else: predictions continue the trend
};
[[nodiscard]] std::string_view identifier_of(ScalingSeries series) noexcept;

struct ScalingRun {
  std::int32_t ranks = 0;
  double time_ns = 0;  ///< a step of the average rank, or its run
  ByScalingPart<double> parts_ns{};
};

struct ScalingForecast {
  std::int32_t ranks = 0;
  PredictedValue time_ns;
  ByScalingPart<PredictedValue> parts_ns{};
};

struct ScalingPartLaw {
  ScalingPart part = ScalingPart::kernels;
  ScalingLaw law;
  double left_out_error = 0;  ///< relative to the part's time
};

struct Scaling {
  std::string program;  ///< of the largest run
  bool is_by_step = false;
  bool is_exposed = false;  ///< false: communication time, and kernels are part of the host's code
  ScalingSeries series = ScalingSeries::neither;
  double work_exponent = 0;          ///< a rank's work grows as ranks to this power
  std::vector<ScalingRun> runs;      ///< by ranks
  std::vector<ScalingPartLaw> laws;  ///< of the parts that occur
  std::vector<ScalingForecast> forecasts;
  std::vector<std::string> remarks;  ///< what the forecasts do not cover
};

/// Returns why these runs allow no prediction; empty if they do.
[[nodiscard]] std::string why_no_scaling(const std::vector<Report>& reports);

/// Predicts the time on each of `ranks`. why_no_scaling() must be empty for the reports.
[[nodiscard]] Scaling scale(const std::vector<Report>& reports, const std::vector<std::int32_t>& ranks);

/// Returns the efficiency relative to the first run: the speed-up as a share of the ideal one. Returns
/// nullopt if the series is neither strong nor weak.
[[nodiscard]] std::optional<double> efficiency_of(const Scaling& scaling, std::int32_t ranks, double time_ns);

}  // namespace penstock::analysis
