#include "analysis/comparison/trend.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "analysis/comparison/run_spread.hpp"
#include "analysis/report/text_figures.hpp"
#include "analysis/tables/median.hpp"

namespace penstock::analysis {
namespace {

std::string what_is_missing_in(const Report& report) {
  if (std::string missing = what_is_missing(report); !missing.empty()) {
    return missing;
  }
  return report.counted_ranks == 0 ? "has no usable rank" : "";
}

StepQuartiles quartiles_of(const Report& report) {
  const auto ranks = static_cast<double>(std::max<std::uint64_t>(report.counted_ranks, 1));
  std::vector<double> lengths_ns;
  for (const StepFigures& each : report.steps->each) {
    lengths_ns.push_back(static_cast<double>(each.total_ns) / ranks);
  }
  return {quantile_of(lengths_ns, 0.25).value_or(0), median_of(lengths_ns).value_or(0),
          quantile_of(lengths_ns, 0.75).value_or(0)};
}

std::vector<std::optional<TrendRegion>> regions_of(const Report& report,
                                                   const std::vector<std::string>& names, double shares,
                                                   bool has_counted) {
  std::vector<std::optional<TrendRegion>> regions;
  for (const std::string& name : names) {
    const auto found = std::find_if(report.phases.begin(), report.phases.end(),
                                    [&](const PhaseFigures& each) { return each.name == name; });
    std::optional<TrendRegion>& region = regions.emplace_back();
    if (found != report.phases.end()) {
      region.emplace().total_ns = static_cast<double>(found->total_ns) / shares;
      if (has_counted) {
        region->counted_ns = static_cast<double>(found->counted_ns) / shares;
      }
    }
  }
  return regions;
}

TrendRun run_of(const NamedReport& named, const Trend& trend) {
  const Report& report = named.report;
  const double shares = shares_of(report, trend.is_by_step);
  const bool has_counted = report.counted_ranks != 0 && counts_exposed(report) == trend.is_exposed;
  TrendRun run{.recording = named.recording,
               .state = state_of(report),
               .facts = report.facts,
               .what_is_missing = what_is_missing_in(report),
               .time_ns = static_cast<double>(report.total_ns) / shares};
  if (trend.is_by_step) {
    run.steps = report.steps->each.size();
    run.step_quartiles = quartiles_of(report);
  }
  if (has_counted) {
    run.counted_share = share_of(communication_ns(report), report.total_ns);
  }
  if (report.parts) {
    run.parts_ns.emplace();
    for (std::size_t i = 0; i < part_count; ++i) {
      (*run.parts_ns)[i] = static_cast<double>((*report.parts)[i]) / shares;
    }
  }
  if (report.replay) {
    run.efficiency = report.replay->efficiency;
    run.gpu_efficiency = report.replay->gpu_efficiency;
  }
  run.regions = regions_of(report, trend.regions, shares, has_counted);
  return run;
}

/// A history names no functions, so it need not say why some have no names.
Report without_modules(Report report) {
  report.rebuilt_modules.clear();
  return report;
}

/// Keeps of a comparison what a history shows.
Diff without_places(Diff diff, const std::vector<std::string>& regions) {
  diff.call_sites.clear();
  std::erase_if(diff.regions, [&](const DiffRow& each) {
    return std::find(regions.begin(), regions.end(), each.name) == regions.end();
  });
  return diff;
}

std::vector<Diff> changes_between(const std::vector<NamedReport>& reports,
                                  const std::vector<std::string>& regions) {
  std::vector<Diff> changes;
  for (std::size_t i = 1; i < reports.size(); ++i) {
    changes.push_back(without_places(
        compare({without_modules(reports[i - 1].report)}, {without_modules(reports[i].report)}), regions));
  }
  widen_by_runs(changes);
  return changes;
}

/// Two runs that are no neighbours vary as neighbours do.
DiffRow change_since_first(const std::vector<NamedReport>& reports, const Diff& newest) {
  Diff since = compare({reports.front().report}, {reports.back().report});
  if (since.is_known && since.is_by_step == newest.is_by_step) {
    widen_as(since.totals.front(), newest.totals.front());
  }
  return since.totals.front();
}

}  // namespace

void order_by_begin(std::vector<NamedReport>& reports) {
  std::stable_sort(reports.begin(), reports.end(), [](const NamedReport& left, const NamedReport& right) {
    return left.report.began_realtime_ns < right.report.began_realtime_ns;
  });
}

Trend trend_of(const std::vector<NamedReport>& reports, std::vector<std::string> regions) {
  const auto all = [&](auto condition) {
    return std::all_of(reports.begin(), reports.end(),
                       [&](const NamedReport& each) { return condition(each.report); });
  };
  Trend trend{.is_by_step = all(has_steps), .is_exposed = all(counts_exposed), .regions = std::move(regions)};
  for (const NamedReport& each : reports) {
    trend.runs.push_back(run_of(each, trend));
  }
  std::vector<Diff> changes = changes_between(reports, trend.regions);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    trend.runs[i + 1].change = std::move(changes[i]);
  }
  if (reports.size() > 2) {
    trend.since_first = change_since_first(reports, *trend.runs.back().change);
  }
  return trend;
}

}  // namespace penstock::analysis
