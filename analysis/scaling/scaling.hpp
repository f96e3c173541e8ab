// What a program would take on other numbers of ranks, from runs on several: each part of the average rank's
// time is fitted by itself, as kernels, host code, messages and waits scale differently. Goes by finished
// reports alone. Knows no text.
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

/// The average rank's time, cut without rest.
enum class ScalingPart : std::uint8_t {
  kernels,    ///< its GPU computes; where kernels are not known, part of host_code
  host_code,  ///< neither that nor MPI
  wire,       ///< exposed: data moves, is packed or staged
  waiting,    ///< exposed: for other ranks or the GPU, and what is unattributed
};
inline constexpr std::size_t scaling_part_count = 4;
template <typename Value>
using ByScalingPart = std::array<Value, scaling_part_count>;

/// For people and for machines.
[[nodiscard]] std::string_view name_of(ScalingPart part) noexcept;
[[nodiscard]] std::string_view identifier_of(ScalingPart part) noexcept;

/// How the work of a rank changed from run to run.
enum class ScalingSeries : std::uint8_t {
  strong,   ///< the same work, shared by more ranks
  weak,     ///< as much work for each rank
  neither,  ///< something else: what is predicted goes on likewise
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
  double left_out_error = 0;  ///< of the part's time
};

struct Scaling {
  std::string program;  ///< of the largest run
  bool is_by_step = false;
  bool is_exposed = false;  ///< else communication time, and kernels are part of the host's code
  ScalingSeries series = ScalingSeries::neither;
  double work_exponent = 0;          ///< a rank's work grows as ranks to this power
  std::vector<ScalingRun> runs;      ///< by ranks
  std::vector<ScalingPartLaw> laws;  ///< of the parts that are there
  std::vector<ScalingForecast> forecasts;
  std::vector<std::string> remarks;  ///< what the forecasts do not know
};

/// Why these runs tell nothing of others; empty: they do.
[[nodiscard]] std::string why_no_scaling(const std::vector<Report>& reports);

/// `ranks`: to be predicted. The reports must allow it.
[[nodiscard]] Scaling scale(const std::vector<Report>& reports, const std::vector<std::int32_t>& ranks);

/// Of the first run, how many times as fast, and what share of what so many ranks could do. None where the
/// series is neither strong nor weak.
[[nodiscard]] std::optional<double> efficiency_of(const Scaling& scaling, std::int32_t ranks, double time_ns);

}  // namespace penstock::analysis
