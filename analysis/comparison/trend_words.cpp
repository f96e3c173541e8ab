#include "analysis/comparison/trend_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/comparison/trend_facts.hpp"
#include "analysis/layout/text_table.hpp"

namespace penstock::analysis {
namespace {

bool is_change(const DiffRow& row) {
  return row.verdict == Verdict::less || row.verdict == Verdict::more;
}

double percent_changed(const DiffRow& row) {
  return row.before_ns == 0 ? 0 : 100 * (row.after_ns - row.before_ns) / row.before_ns;
}

double percent_of_jitter(const DiffRow& row) {
  return row.before_ns == 0 ? 0 : 100 * row.margin_ns.value_or(0) / row.before_ns;
}

double longest_time_ns(const Trend& trend) {
  const auto longest = std::max_element(
      trend.runs.begin(), trend.runs.end(),
      [](const TrendRun& left, const TrendRun& right) { return left.time_ns < right.time_ns; });
  return longest->time_ns;
}

std::string ranks_in_words(const TrendRun& run) {
  return fmt::format("{} rank{}", run.state.world_size, run.state.world_size == 1 ? "" : "s");
}

/// Returns true if the variation within runs decides alone, as too few other runs are like this one.
bool is_by_steps_alone(const TrendRun& run) {
  return run.change && run.change->is_known && run.change->other_pairs == 0;
}

}  // namespace

TrendWords::TrendWords(const Trend& trend) : trend_(trend), unit_(longest_time_ns(trend)) {}

bool TrendWords::shows(const DiffRow& row) const {
  constexpr double least = 0.0005;  // of the unit, which has three decimals
  return is_change(row) && std::abs(row.after_ns - row.before_ns) / unit_.ns() >= least;
}

std::string TrendWords::what_ran() const {
  const std::size_t count = trend_.runs.size();
  std::string text = fmt::format("{} run{}", count, count == 1 ? "" : "s");
  const auto add_if_common = [&](std::string_view words, RunFact fact) {
    if (const std::string value = common(trend_, fact); !value.empty()) {
      (text += words) += value;
    }
  };
  add_if_common(" of ", ranks_in_words);
  add_if_common(" on ", hosts_of);
  add_if_common(" · ", mpi_of);
  add_if_common(" · ", gpus_of);
  add_if_common(" · driver ", driver_of);
  add_if_common(" · job ", job_of);
  return printable(text);
}

std::string TrendWords::headline() const {
  const std::string newest_takes = fmt::format("The newest run takes {}{}", unit_.with_unit(newest().time_ns),
                                               trend_.is_by_step ? " a step" : "");
  if (!newest().change) {
    return newest_takes + ". There is no run before it to compare with.";
  }
  const DiffRow& time = newest().change->totals.front();
  std::string text = newest_takes + ": ";
  switch (time.verdict) {
    case Verdict::less:
    case Verdict::more:
      text += fmt::format("{:.1f} % {} than the run before it", std::abs(percent_changed(time)),
                          time.verdict == Verdict::more ? "more" : "less");
      if (const std::string parts = changed_parts(newest()); !parts.empty()) {
        text += " (" + parts + ")";
      }
      break;
    case Verdict::jitter:
      text += fmt::format("as long as the run before it, within jitter ({:+.1f} %, jitter is ± {:.1f} %)",
                          percent_changed(time), percent_of_jitter(time));
      break;
    case Verdict::unknown:
      text += fmt::format("{:+.1f} % against the run before it; whether that is jitter is not known",
                          percent_changed(time));
      break;
  }
  if (trend_.since_first) {
    text += fmt::format("; {:+.1f} % against the first one{}", percent_changed(*trend_.since_first),
                        trend_.since_first->verdict == Verdict::jitter ? ", within jitter" : "");
  }
  return text + ".";
}

/// Returns "late sender +0.953 ms, host code -0.021 ms": the changes of parts that are more than jitter.
std::string TrendWords::changed_parts(const TrendRun& run) const {
  std::vector<const DiffRow*> changed;
  for (const DiffRow& each : run.change->parts) {
    if (shows(each)) {
      changed.push_back(&each);
    }
  }
  std::sort(changed.begin(), changed.end(), [](const DiffRow* left, const DiffRow* right) {
    return std::abs(left->after_ns - left->before_ns) > std::abs(right->after_ns - right->before_ns);
  });
  std::string text;
  for (const DiffRow* const each : changed) {
    text += fmt::format("{}{} {:+.3f} {}", text.empty() ? "" : ", ", each->name,
                        (each->after_ns - each->before_ns) / unit_.ns(), unit_.name());
  }
  return text;
}

std::string TrendWords::change_of(const TrendRun& run) const {
  if (!run.change || !is_change(run.change->totals.front())) {
    return {};
  }
  const DiffRow& time = run.change->totals.front();
  const std::string parts = changed_parts(run);
  return printable(fmt::format("{:+.3f} {} ± {} a {}{}{}", (time.after_ns - time.before_ns) / unit_.ns(),
                               unit_.name(), unit_.number(time.margin_ns.value_or(0)), one(),
                               parts.empty() ? "" : ": ", parts));
}

std::string TrendWords::explanation() const {
  const std::string whose = fmt::format("Time a {} of the average rank. ", one());
  if (trend_.runs.size() == 1) {
    return whose + "Give the recordings of several runs for a history.";
  }
  if (!trend_.is_by_step && is_by_steps_alone(newest())) {
    return whose +
           "No steps were found in all runs, so that a change cannot be told from jitter (?) with fewer than "
           "three "
           "runs of this program before the newest one: name an NVTX range with --step.";
  }
  const std::string marks = whose + "▲ ▼: more, less than in the run before, beyond ";
  if (is_by_steps_alone(newest())) {
    return marks +
           "the 95 % confidence interval from how the steps of both vary. Runs may differ by more: how far "
           "is known "
           "from three earlier runs of the program on. Median and quartiles: of the steps.";
  }
  const std::string of_runs =
      "by how much other runs of the program differ from the ones before them, with 95 % confidence.";
  return trend_.is_by_step ? marks + "jitter: the larger of how the steps of both vary and " + of_runs +
                                 " Median and quartiles: of the steps."
                           : marks + "jitter: " + of_runs;
}

std::vector<std::string> TrendWords::remarks(const std::vector<LeftOut>& left_out, std::size_t first) const {
  std::vector<std::string> lines;
  for (std::size_t i = first; i < trend_.runs.size(); ++i) {
    const TrendRun& run = trend_.runs[i];
    if (!run.what_is_missing.empty()) {
      lines.push_back(fmt::format("run {}: {}", i + 1, run.what_is_missing));
    }
    if (!run.change) {
      continue;
    }
    if (!is_by_steps_alone(newest()) && is_by_steps_alone(run)) {
      lines.push_back(
          fmt::format("run {}: too few other runs of its program to know by how much they differ", i + 1));
    }
    for (const std::string& remark : run.change->remarks) {
      lines.push_back(fmt::format("run {} and the one before: {}", i + 1, remark));
    }
  }
  for (std::size_t i = 0; i < trend_.regions.size(); ++i) {
    if (std::none_of(trend_.runs.begin(), trend_.runs.end(),
                     [i](const TrendRun& run) { return run.regions[i].has_value(); })) {
      lines.push_back(fmt::format("no run has an NVTX range \"{}\"", trend_.regions[i]));
    }
  }
  for (const LeftOut& each : left_out) {
    lines.push_back(fmt::format("left out: {}", each.why));
  }
  return lines;
}

}  // namespace penstock::analysis
