#include "analysis/scaling/scaling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

/// Assumed noise: runs differ by a share of each part; small parts differ by the variation of the whole run.
constexpr double noise_of_run = 0.01;

/// Powers of the number of ranks by which a rank's work falls (strong series) or within which it stays (weak
/// series).
constexpr double strong_below = -0.85;
constexpr double weak_within = 0.15;

/// Predictions for more than this times the largest run's ranks cause a warning.
constexpr double far_away = 16;

double& of(ByScalingPart<double>& parts, ScalingPart part) {
  return parts[static_cast<std::size_t>(part)];
}
double of(const ByScalingPart<double>& parts, ScalingPart part) {
  return parts[static_cast<std::size_t>(part)];
}

ScalingRun run_of(const Report& report, bool is_by_step) {
  const double shares = static_cast<double>(report.counted_ranks) *
                        (is_by_step ? static_cast<double>(report.steps->each.size()) : 1.0);
  const auto cause = [&](Cause which) {
    return static_cast<double>(report.by_cause[static_cast<std::size_t>(which)]);
  };
  double kernels_ns = 0;
  for (const RankFigures& rank : report.ranks) {
    kernels_ns += rank.is_counted && counts_exposed(report) ? static_cast<double>(rank.kernels_ns) : 0;
  }
  const auto total_ns = static_cast<double>(report.total_ns);
  const auto counted_ns = static_cast<double>(report.counted_ns);
  const double wire_ns = cause(Cause::wire) + cause(Cause::staging);
  ScalingRun run;
  run.ranks = report.world_size;
  run.time_ns = total_ns / shares;
  of(run.parts_ns, ScalingPart::kernels) = kernels_ns / shares;
  of(run.parts_ns, ScalingPart::host_code) = std::max(0.0, total_ns - kernels_ns - counted_ns) / shares;
  of(run.parts_ns, ScalingPart::wire) = wire_ns / shares;
  of(run.parts_ns, ScalingPart::waiting) = (counted_ns - wire_ns) / shares;
  return run;
}

/// Returns the slope of a line through the logarithms.
double exponent_of(const std::vector<ScalingRun>& runs, ScalingPart part) {
  double count = 0;
  double xs = 0;
  double ys = 0;
  double xxs = 0;
  double xys = 0;
  for (const ScalingRun& run : runs) {
    const double value = of(run.parts_ns, part);
    if (value <= 0) {
      continue;
    }
    const double x = std::log(static_cast<double>(run.ranks));
    const double y = std::log(value);
    ++count;
    xs += x;
    ys += y;
    xxs += x * x;
    xys += x * y;
  }
  const double spread = count * xxs - xs * xs;
  return spread > 1e-9 ? (count * xys - xs * ys) / spread : 0;
}

std::vector<std::string> remarks_on(const std::vector<Report>& reports, const Scaling& scaling) {
  std::vector<std::string> remarks;
  const auto differ = [&](const char* what, auto figure) {
    std::set<std::string> values;
    for (const Report& each : reports) {
      values.insert(figure(each));
    }
    if (values.size() > 1) {
      remarks.push_back(fmt::format("{} differ: {}", what, fmt::join(values, "; ")));
    }
  };
  // arguments may differ, as the work of a weak series does
  differ("programs", [](const Report& report) {
    const std::string command = command_text(report.program);
    return command.substr(0, command.find(' '));
  });
  differ("GPUs", [](const Report& report) {
    std::set<std::string> kinds(report.devices.begin(), report.devices.end());
    return report.simulated_gpu ? std::string("simulated") : fmt::format("{}", fmt::join(kinds, ", "));
  });
  differ("MPI libraries", [](const Report& report) { return short_version(report.mpi_version); });
  std::set<bool> is_on_one_host;
  for (const Report& each : reports) {
    is_on_one_host.insert(each.one_clock);
  }
  if (is_on_one_host.size() > 1) {
    remarks.emplace_back("some runs are on one host and some on several, with another network");
  } else if (reports.front().one_clock) {
    remarks.emplace_back("all runs are on one host: a network between hosts is not included");
  }
  const auto largest = std::max_element(
      reports.begin(), reports.end(),
      [](const Report& left, const Report& right) { return left.world_size < right.world_size; });
  std::uint64_t hidden_ns = 0;
  std::uint64_t communication_ns = 0;
  for (const RankFigures& rank : largest->ranks) {
    hidden_ns += rank.is_counted ? rank.hidden_ns : 0;
    communication_ns += rank.is_counted ? rank.communication_ns : 0;
  }
  if (scaling.is_exposed && scaling.series != ScalingSeries::weak && hidden_ns * 20 > communication_ns) {
    remarks.push_back(
        fmt::format("{} of the communication of the largest run is hidden behind kernels; where kernels "
                    "become shorter than that, it becomes exposed, which the fitted laws do not include",
                    percent_text(share_of(hidden_ns, communication_ns))));
  }
  for (const ScalingForecast& each : scaling.forecasts) {
    if (each.ranks > far_away * largest->world_size) {
      remarks.push_back(
          fmt::format("{} ranks are more than {:.0f} times those of the largest run", each.ranks, far_away));
    }
  }
  return remarks;
}

}  // namespace

std::string_view name_of(ScalingPart part) noexcept {
  switch (part) {
    case ScalingPart::kernels:
      return "kernels";
    case ScalingPart::host_code:
      return "host code";
    case ScalingPart::wire:
      return "wire";
    case ScalingPart::waiting:
      break;
  }
  return "waiting";
}

std::string_view identifier_of(ScalingPart part) noexcept {
  return part == ScalingPart::host_code ? "host_code" : name_of(part);
}

std::string_view identifier_of(ScalingSeries series) noexcept {
  switch (series) {
    case ScalingSeries::strong:
      return "strong";
    case ScalingSeries::weak:
      return "weak";
    case ScalingSeries::neither:
      break;
  }
  return "neither";
}

std::string why_no_scaling(const std::vector<Report>& reports) {
  std::set<std::int32_t> rank_counts;
  for (const Report& each : reports) {
    rank_counts.insert(each.world_size);
    if (const std::string missing = what_is_missing(each); !missing.empty()) {
      return fmt::format("the run on {} cannot be used: {}", each.world_size, missing);
    }
    if (each.counted_ranks == 0 || each.total_ns == 0) {
      return fmt::format("no rank of the run on {} could be counted", each.world_size);
    }
    if (counts_exposed(each) != counts_exposed(reports.front())) {
      return "some runs have no record of kernels, and others have";
    }
  }
  if (rank_counts.size() < ScalingFit::fewest_rank_counts) {
    return fmt::format(
        "it takes runs on at least {} different numbers of ranks, two to fit a law to and one to test it by; "
        "there {} on "
        "{}",
        ScalingFit::fewest_rank_counts, reports.size() == 1 ? "is one" : "are some",
        fmt::join(rank_counts, ", "));
  }
  return {};
}

Scaling scale(const std::vector<Report>& reports, const std::vector<std::int32_t>& ranks) {
  Scaling scaling;
  scaling.is_by_step = std::all_of(reports.begin(), reports.end(), has_steps);
  scaling.is_exposed = counts_exposed(reports.front());
  std::int32_t largest = 0;
  for (const Report& each : reports) {
    scaling.runs.push_back(run_of(each, scaling.is_by_step));
    if (each.world_size >= largest) {
      largest = each.world_size;
      scaling.program = each.program;
    }
  }
  std::stable_sort(scaling.runs.begin(), scaling.runs.end(),
                   [](const ScalingRun& left, const ScalingRun& right) { return left.ranks < right.ranks; });
  scaling.work_exponent =
      exponent_of(scaling.runs, scaling.is_exposed ? ScalingPart::kernels : ScalingPart::host_code);
  scaling.series = scaling.work_exponent <= strong_below            ? ScalingSeries::strong
                   : std::abs(scaling.work_exponent) <= weak_within ? ScalingSeries::weak
                                                                    : ScalingSeries::neither;
  for (const std::int32_t each : ranks) {
    scaling.forecasts.emplace_back().ranks = each;
  }
  for (std::size_t part = 0; part < scaling_part_count; ++part) {
    std::vector<ScalingSample> samples;
    bool is_there = false;
    for (const ScalingRun& run : scaling.runs) {
      const double value_ns = run.parts_ns[part];
      samples.push_back({static_cast<double>(run.ranks), value_ns, value_ns + noise_of_run * run.time_ns});
      is_there = is_there || value_ns > 0;
    }
    if (!is_there) {
      continue;
    }
    const ScalingFit fit(std::move(samples));
    scaling.laws.push_back({static_cast<ScalingPart>(part), fit.law(), fit.left_out_error()});
    for (ScalingForecast& forecast : scaling.forecasts) {
      forecast.parts_ns[part] = fit.at(static_cast<double>(forecast.ranks));
    }
  }
  // the errors of the parts are assumed to be independent
  for (ScalingForecast& forecast : scaling.forecasts) {
    double below = 0;
    double above = 0;
    for (const PredictedValue& part : forecast.parts_ns) {
      forecast.time_ns.value += part.value;
      below += (part.value - part.low) * (part.value - part.low);
      above += (part.high - part.value) * (part.high - part.value);
    }
    forecast.time_ns.low = forecast.time_ns.value - std::sqrt(below);
    forecast.time_ns.high = forecast.time_ns.value + std::sqrt(above);
  }
  scaling.remarks = remarks_on(reports, scaling);
  return scaling;
}

std::optional<double> efficiency_of(const Scaling& scaling, std::int32_t ranks, double time_ns) {
  if (scaling.series == ScalingSeries::neither || time_ns <= 0) {
    return std::nullopt;
  }
  const ScalingRun& first = scaling.runs.front();
  const double speedup = first.time_ns / time_ns;
  return scaling.series == ScalingSeries::weak ? speedup : speedup * first.ranks / ranks;
}

}  // namespace penstock::analysis
