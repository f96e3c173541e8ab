#include "analysis/comparison/diff.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/comparison/circumstances.hpp"
#include "analysis/comparison/same_run.hpp"
#include "analysis/report/step_batches.hpp"
#include "analysis/report/text_figures.hpp"
#include "analysis/tables/confidence.hpp"

namespace penstock::analysis {
namespace {

std::uint64_t sum_of(const TimeByCause& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

/// A figure of a step, summed over ranks; may be empty.
using StepFigure = std::function<std::uint64_t(const StepFigures& step)>;

/// Returns how a figure of one run varies: its means of batches of steps, per rank and step.
using Samples = std::function<std::vector<double>(const Report& report)>;

Samples by_step(StepFigure figure) {
  return [figure = std::move(figure)](const Report& report) {
    return batch_means_of(report.steps->each, report.counted_ranks, figure);
  };
}

const PhaseFigures* phase_named(const Report& report, const std::string& name) {
  const auto found = std::find_if(report.phases.begin(), report.phases.end(),
                                  [&](const PhaseFigures& each) { return each.name == name; });
  return found == report.phases.end() ? nullptr : &*found;
}

class Comparison {
 public:
  Comparison(const std::vector<Report>& before, const std::vector<Report>& after)
      : before_(before), after_(after) {
    const auto all = [&](auto condition) {
      return std::all_of(before.begin(), before.end(), condition) &&
             std::all_of(after.begin(), after.end(), condition);
    };
    diff_.runs_before = before.size();
    diff_.runs_after = after.size();
    diff_.before = state_of(before.front());
    diff_.after = state_of(after.front());
    diff_.is_by_step = all(has_steps);
    diff_.is_known = all([](const Report& report) { return what_is_missing(report).empty(); });
    diff_.is_exposed = all(counts_exposed);
    is_one_measure_ = diff_.is_exposed || all([&](const Report& report) { return !counts_exposed(report); });
    diff_.from_steps = diff_.is_by_step && before.size() == 1 && after.size() == 1;
  }

  [[nodiscard]] Diff make() {
    totals();
    parts();
    regions();
    if (is_one_measure_) {
      for (std::size_t i = 0; i < cause_count; ++i) {
        add_if_any(diff_.causes, of_cause(static_cast<Cause>(i)));
      }
      call_sites();
    }
    remarks();
    return std::move(diff_);
  }

 private:
  /// Returns a sum of each report, per rank and step.
  template <typename Sum>
  [[nodiscard]] std::vector<double> values(const std::vector<Report>& reports, Sum sum) const {
    std::vector<double> of_runs;
    for (const Report& each : reports) {
      of_runs.push_back(static_cast<double>(sum(each)) / shares_of(each, diff_.is_by_step));
    }
    return of_runs;
  }

  /// `sum`: of a report, over its ranks. `samples`: how it varies within a run; empty if that is not known.
  /// If records are missing, nothing certain follows from the recorded part for the rest.
  template <typename Sum>
  DiffRow row(std::string name, Sum sum, const Samples& samples) const {
    const std::vector<double> before = values(before_, sum);
    const std::vector<double> after = values(after_, sum);
    DiffRow result{std::move(name), mean_of(before), mean_of(after), std::nullopt, Verdict::unknown};
    if (!diff_.is_known) {
      return result;
    }
    result.margin_ns = diff_.from_steps && samples
                           ? margin_of_difference(samples(before_.front()), samples(after_.front()))
                           : margin_of_difference(before, after);
    result.verdict = verdict_on(result);
    return result;
  }

  static void add_if_any(std::vector<DiffRow>& rows, DiffRow row) {
    if (row.before_ns != 0 || row.after_ns != 0) {
      rows.push_back(std::move(row));
    }
  }

  /// A smaller difference than the error of the hosts' clocks may come from these alone.
  void widen_by_clocks(Cause cause, DiffRow& row) const {
    const auto within_error = [cause](const Report& report) {
      return report.within_error[static_cast<std::size_t>(cause)];
    };
    const double clock_error_ns =
        mean_of(values(before_, within_error)) + mean_of(values(after_, within_error));
    if (row.margin_ns && clock_error_ns > 0) {
      *row.margin_ns += clock_error_ns;
      row.verdict = verdict_on(row);
    }
  }

  [[nodiscard]] DiffRow of_cause(Cause cause) const {
    const auto i = static_cast<std::size_t>(cause);
    DiffRow result = row(
        std::string(name_of(cause)), [i](const Report& report) { return report.by_cause[i]; },
        by_step([i](const StepFigures& step) { return step.by_cause[i]; }));
    widen_by_clocks(cause, result);
    return result;
  }

  /// Returns how the part of kernels varies, so that the total is judged as the part is; empty: parts are not
  /// known.
  [[nodiscard]] Samples kernels_of_steps() const {
    return has_all_parts() ? of_part_in_steps(TimePart::kernels) : Samples();
  }

  static Samples of_part_in_steps(TimePart part) {
    return by_step([part](const StepFigures& step) { return step.parts ? time_of(*step.parts, part) : 0; });
  }

  [[nodiscard]] bool has_all_parts() const {
    const auto has_parts = [](const Report& report) { return report.parts.has_value(); };
    return is_one_measure_ && std::all_of(before_.begin(), before_.end(), has_parts) &&
           std::all_of(after_.begin(), after_.end(), has_parts);
  }

  /// Where all of them lack these, launches are counted alike.
  [[nodiscard]] bool some_lack_launch_times() const {
    const auto lacks = [](const Report& report) { return lacks_launch_times(report); };
    const auto all = static_cast<std::ptrdiff_t>(before_.size() + after_.size());
    const auto lack = std::count_if(before_.begin(), before_.end(), lacks) +
                      std::count_if(after_.begin(), after_.end(), lacks);
    return lack != 0 && lack != all;
  }

  void parts() {
    if (!has_all_parts()) {
      return;
    }
    for (std::size_t i = 0; i < part_count; ++i) {
      const auto part = static_cast<TimePart>(i);
      DiffRow of_part = row(
          std::string(name_of(part)), [i](const Report& report) { return (*report.parts)[i]; },
          of_part_in_steps(part));
      if (const std::optional<Cause> cause = cause_of(part)) {
        widen_by_clocks(*cause, of_part);
      }
      if (depends_on_launch_times(part) && some_lack_launch_times()) {
        of_part.margin_ns.reset();
        of_part.verdict = Verdict::unknown;
      }
      add_if_any(diff_.parts, std::move(of_part));
    }
  }

  void totals() {
    const auto of_ranks = [](std::uint64_t RankFigures::*figure) {
      return [figure](const Report& report) {
        std::uint64_t sum_ns = 0;
        for (const RankFigures& rank : report.ranks) {
          sum_ns += rank.is_counted ? rank.*figure : 0;
        }
        return sum_ns;
      };
    };
    diff_.totals.push_back(row(diff_.is_by_step ? "step" : "run", of_ranks(&RankFigures::total_ns),
                               by_step([](const StepFigures& step) { return step.total_ns; })));
    if (diff_.is_exposed) {
      diff_.totals.push_back(row("exposed", communication_ns, by_step([](const StepFigures& step) {
                                   return step.parts ? exposed_in(*step.parts) : sum_of(step.by_cause);
                                 })));
      diff_.totals.push_back(row("hidden", of_ranks(&RankFigures::hidden_ns), nullptr));
      diff_.totals.push_back(row("kernels", of_ranks(&RankFigures::kernels_ns), kernels_of_steps()));
    }
    // without kernels, what is counted is the time in MPI
    const bool is_counted = is_one_measure_ && !diff_.is_exposed;
    diff_.totals.push_back(
        row("in MPI", of_ranks(&RankFigures::host_ns),
            is_counted ? by_step([](const StepFigures& step) { return sum_of(step.by_cause); }) : Samples()));
  }

  void regions() {
    std::set<std::string> names;
    for (const std::vector<Report>* const reports : {&before_, &after_}) {
      for (const Report& each : *reports) {
        for (const PhaseFigures& phase : each.phases) {
          names.insert(phase.name);
        }
      }
    }
    for (const std::string& name : names) {
      const auto total_ns = [&name](const Report& report) {
        const PhaseFigures* const phase = phase_named(report, name);
        return phase == nullptr ? 0 : phase->total_ns;
      };
      diff_.regions.push_back(row(name, total_ns, [&name](const Report& report) {
        const PhaseFigures* const phase = phase_named(report, name);
        return batch_means(report.steps->each.size(), report.counted_ranks, [phase](std::size_t batch) {
          return phase == nullptr || batch >= phase->batches_ns.size() ? 0 : phase->batches_ns[batch];
        });
      }));
    }
  }

  /// Returns a name that survives changes of the program: lines and addresses change.
  static std::string name_of_site(const CallSiteFigures& site) {
    return site.function.empty() ? fmt::format("{} at {}", site.mpi_function, place_in_sentence(site))
                                 : fmt::format("{} in {}", site.mpi_function, site.function);
  }

  void call_sites() {
    std::set<std::string> names;
    std::map<const Report*, std::map<std::string, std::uint64_t>> sums;
    for (const std::vector<Report>* const reports : {&before_, &after_}) {
      for (const Report& each : *reports) {
        for (const CallSiteFigures& site : each.call_sites) {
          const std::string name = name_of_site(site);
          sums[&each][name] += site.counted_ns;
          names.insert(name);
        }
      }
    }
    for (const std::string& name : names) {
      const auto sum = [&](const Report& report) {
        const std::map<std::string, std::uint64_t>& of_report = sums[&report];
        const auto found = of_report.find(name);
        return found == of_report.end() ? std::uint64_t{0} : found->second;
      };
      diff_.call_sites.push_back(row(name, sum, nullptr));
    }
    std::stable_sort(
        diff_.call_sites.begin(), diff_.call_sites.end(), [](const DiffRow& left, const DiffRow& right) {
          return std::abs(left.after_ns - left.before_ns) > std::abs(right.after_ns - right.before_ns);
        });
  }

  [[nodiscard]] bool have_a_run_in_common() const {
    return std::any_of(before_.begin(), before_.end(), [this](const Report& before) {
      return std::any_of(after_.begin(), after_.end(),
                         [&](const Report& after) { return are_of_one_run(before, after); });
    });
  }

  void remarks() {
    if (have_a_run_in_common()) {
      diff_.remarks.emplace_back("a run before and one after are one and the same run");
    }
    for (const std::vector<Report>* const reports : {&before_, &after_}) {
      for (std::size_t i = 0; i < reports->size(); ++i) {
        const Report& report = (*reports)[i];
        const char* const when = reports == &before_ ? "before" : "after";
        if (report.unfinished) {
          diff_.remarks.push_back(
              fmt::format("in a run {}, {}", when, unfinished_clause(*report.unfinished)));
        } else if (report.recorded_part) {
          diff_.remarks.push_back(
              fmt::format("a run {} was {}", when, recorded_part_text(*report.recorded_part)));
        }
        for (const Flaw& flaw : report.flaws) {
          if (flaw.loses_records) {
            diff_.remarks.push_back(fmt::format("in a run {}, {}", when, describe(flaw)));
          }
        }
        for (const std::string& module : report.rebuilt_modules) {
          diff_.remarks.push_back(
              fmt::format("functions of a run {} are not named: {} has been rebuilt or replaced since", when,
                          std::filesystem::path(module).filename().string()));
        }
      }
    }
    for (std::string& each : circumstances_that_differ(before_, after_)) {
      diff_.remarks.push_back(std::move(each));
    }
    if (diff_.is_by_step) {
      add_if_differ(diff_.remarks, "marks of the steps", before_, after_,
                    [](const Report& report) { return report.steps->mark; });
    }
    if (some_lack_launch_times()) {
      diff_.remarks.emplace_back(
          "of some runs it is not recorded when kernels were launched, so kernel launch, host code and CUDA "
          "synchronisation cannot be compared");
    }
    if (!is_one_measure_) {
      diff_.remarks.emplace_back(
          "some runs have no record of kernels, so only the time in MPI can be compared, not what is "
          "exposed");
    }
  }

  const std::vector<Report>& before_;
  const std::vector<Report>& after_;
  bool is_one_measure_;  ///< exposed communication in all reports, or communication time in all
  Diff diff_;
};

}  // namespace

double shares_of(const Report& report, bool is_by_step) {
  const auto ranks = static_cast<double>(std::max<std::uint64_t>(report.counted_ranks, 1));
  return ranks * (is_by_step ? static_cast<double>(report.steps->each.size()) : 1.0);
}

ComparedState state_of(const Report& report) {
  return {report.program,    report.mpi_version,       report.hosts,        report.devices,
          report.world_size, report.began_realtime_ns, report.simulated_gpu};
}

Verdict verdict_on(const DiffRow& row) {
  if (!row.margin_ns) {
    return Verdict::unknown;
  }
  const double change_ns = row.after_ns - row.before_ns;
  return std::abs(change_ns) <= *row.margin_ns ? Verdict::jitter
         : change_ns < 0                       ? Verdict::less
                                               : Verdict::more;
}

std::string_view identifier_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::less:
      return "less";
    case Verdict::more:
      return "more";
    case Verdict::jitter:
      return "jitter";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

Diff compare(const std::vector<Report>& before, const std::vector<Report>& after) {
  return Comparison(before, after).make();
}

}  // namespace penstock::analysis
