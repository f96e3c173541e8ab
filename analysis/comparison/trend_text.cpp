#include "analysis/comparison/trend_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/comparison/trend_facts.hpp"
#include "analysis/comparison/trend_tables.hpp"

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

class TrendWriter {
 public:
  TrendWriter(const Trend& trend, const std::vector<LeftOut>& left_out, bool colours, std::size_t top)
      : left_out_(left_out),
        view_{trend,
              TextPage(colours),
              trend.runs.size() - std::min(top, trend.runs.size()),
              longest_time_ns(trend),
              TimeUnit(longest_time_ns(trend)),
              trend.is_by_step ? "step" : "run"} {}

  [[nodiscard]] std::string write() {
    view_.page.bold("penstock · " + command_text(newest().state.program));
    view_.page.dim(what_ran());
    verdict();
    write_tables(view_);
    changes();
    closing();
    return view_.page.take();
  }

 private:
  [[nodiscard]] const TrendRun& newest() const { return view_.trend.runs.back(); }

  [[nodiscard]] std::string what_ran() const {
    const std::size_t count = view_.trend.runs.size();
    std::string text = fmt::format("{} run{}", count, count == 1 ? "" : "s");
    const auto add_if_common = [&](std::string_view words, RunFact fact) {
      if (const std::string value = common(view_.trend, fact); !value.empty()) {
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
  static std::string ranks_in_words(const TrendRun& run) {
    return fmt::format("{} rank{}", run.state.world_size, run.state.world_size == 1 ? "" : "s");
  }

  void verdict() {
    view_.page.line();
    const std::string newest_takes =
        fmt::format("The newest run takes {}{}", view_.unit.with_unit(newest().time_ns),
                    view_.trend.is_by_step ? " a step" : "");
    if (!newest().change) {
      return view_.page.bold(newest_takes + ". There is no run before it to compare with.");
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
    if (view_.trend.since_first) {
      text += fmt::format("; {:+.1f} % against the first one{}", percent_changed(*view_.trend.since_first),
                          view_.trend.since_first->verdict == Verdict::jitter ? ", within jitter" : "");
    }
    view_.page.bold(text + ".");
  }

  /// Returns "late sender +0.953, host code −0.021 ms": the changes of parts that are more than jitter.
  [[nodiscard]] std::string changed_parts(const TrendRun& run) const {
    std::vector<const DiffRow*> changed;
    for (const DiffRow& each : run.change->parts) {
      if (view_.shows(each)) {
        changed.push_back(&each);
      }
    }
    std::sort(changed.begin(), changed.end(), [](const DiffRow* left, const DiffRow* right) {
      return std::abs(left->after_ns - left->before_ns) > std::abs(right->after_ns - right->before_ns);
    });
    std::string text;
    for (const DiffRow* const each : changed) {
      text += fmt::format("{}{} {:+.3f} {}", text.empty() ? "" : ", ", each->name,
                          (each->after_ns - each->before_ns) / view_.unit.ns(), view_.unit.name());
    }
    return text;
  }

  /// Prints a line for each run whose time changed.
  void changes() {
    bool is_first = true;
    for (std::size_t i = view_.first; i < view_.trend.runs.size(); ++i) {
      const TrendRun& run = view_.trend.runs[i];
      if (!run.change || !is_change(run.change->totals.front())) {
        continue;
      }
      if (std::exchange(is_first, false)) {
        view_.page.line();
      }
      const DiffRow& time = run.change->totals.front();
      const std::string commit = run.facts.commit.empty() ? "" : fmt::format(" ({})", commit_of(run));
      const std::string parts = changed_parts(run);
      view_.page.plain(printable(fmt::format("Run {}{}: {:+.3f} {} ± {} a {}{}{}", i + 1, commit,
                                             (time.after_ns - time.before_ns) / view_.unit.ns(),
                                             view_.unit.name(), view_.unit.number(time.margin_ns.value_or(0)),
                                             view_.one, parts.empty() ? "" : ": ", parts)));
    }
  }

  void closing() {
    view_.page.line();
    std::string text = fmt::format("Time a {} of the average rank. ", view_.one);
    if (view_.trend.runs.size() == 1) {
      text += "Give the recordings of several runs for a history.";
    } else if (is_by_steps_alone(newest())) {
      text +=
          view_.trend.is_by_step
              ? "▲ ▼: more, less than in the run before, beyond the 95 % confidence interval from how the "
                "steps of both vary. By how much runs differ without a change is known from three runs "
                "before "
                "the newest one: those of this program may differ by more. Median and quartiles: of the "
                "steps."
              : "No steps were found in all runs, so that a change cannot be told from jitter (?) with fewer "
                "than three runs of this program before the newest one: name an NVTX range with --step.";
    } else {
      text += fmt::format(
          "▲ ▼: more, less than in the run before, beyond jitter: {}by how much other runs of the program "
          "differ "
          "from the ones before them, with 95 % confidence.{}",
          view_.trend.is_by_step ? "the larger of how the steps of both vary and " : "",
          view_.trend.is_by_step ? " Median and quartiles: of the steps." : "");
    }
    view_.page.dim(text);
    for (std::size_t i = view_.first; i < view_.trend.runs.size(); ++i) {
      const TrendRun& run = view_.trend.runs[i];
      if (!run.what_is_missing.empty()) {
        view_.page.warning(fmt::format("run {}: {}", i + 1, run.what_is_missing));
      }
      if (run.change && !is_by_steps_alone(newest()) && is_by_steps_alone(run)) {
        view_.page.warning(
            fmt::format("run {}: too few other runs of its program to know by how much they differ", i + 1));
      }
      if (run.change) {
        for (const std::string& remark : run.change->remarks) {
          view_.page.warning(fmt::format("run {} and the one before: {}", i + 1, remark));
        }
      }
    }
    for (std::size_t i = 0; i < view_.trend.regions.size(); ++i) {
      if (std::none_of(view_.trend.runs.begin(), view_.trend.runs.end(),
                       [i](const TrendRun& run) { return run.regions[i].has_value(); })) {
        view_.page.warning(fmt::format("no run has an NVTX range \"{}\"", view_.trend.regions[i]));
      }
    }
    for (const LeftOut& each : left_out_) {
      view_.page.warning(fmt::format("left out: {}", each.why));
    }
  }

  /// Returns true if the variation within runs decides alone, as too few other runs are like this one.
  static bool is_by_steps_alone(const TrendRun& run) {
    return run.change && run.change->is_known && run.change->other_pairs == 0;
  }

  const std::vector<LeftOut>& left_out_;
  TrendView view_;
};

}  // namespace

std::string to_text(const Trend& trend, const std::vector<LeftOut>& left_out, bool colours, std::size_t top) {
  return TrendWriter(trend, left_out, colours, top).write();
}

}  // namespace penstock::analysis
