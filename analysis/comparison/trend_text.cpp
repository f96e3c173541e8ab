#include "analysis/comparison/trend_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/report/text_figures.hpp"
#include "analysis/report/text_page.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t commit_columns = 9;
constexpr std::size_t bar_columns = 10;
constexpr std::size_t most_regions = 4;  ///< in one table
constexpr std::size_t most_parts = 6;    ///< shown in columns of their own
constexpr std::string_view unknown_text = "–";

bool is_change(const DiffRow& row) {
  return row.verdict == Verdict::less || row.verdict == Verdict::more;
}

std::string_view mark_of(Verdict verdict) {
  return verdict == Verdict::more ? " ▲" : verdict == Verdict::less ? " ▼" : "";
}

/// Returns "+9.8 % ▲"; "new" for what was not there before.
std::string change_in_words(const DiffRow& row) {
  const std::string change =
      row.before_ns == 0 ? std::string(row.after_ns == 0 ? "0 %" : "new")
                         : fmt::format("{:+.1f} %", 100 * (row.after_ns - row.before_ns) / row.before_ns);
  return change + std::string(row.verdict == Verdict::unknown ? " ?" : mark_of(row.verdict));
}

std::string moment_text(std::uint64_t realtime_ns) {
  const auto time_s = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm local{};
  return realtime_ns == 0 || localtime_r(&time_s, &local) == nullptr
             ? std::string(unknown_text)
             : fmt::format("{:%Y-%m-%d %H:%M}", local);
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? std::string(unknown_text) : printable(text);
}

class TrendWriter {
 public:
  TrendWriter(const Trend& trend, const std::vector<LeftOut>& left_out, bool colours, std::size_t top)
      : trend_(trend),
        left_out_(left_out),
        page_(colours),
        first_(trend.runs.size() - std::min(top, trend.runs.size())),
        unit_(longest_ns(trend)),
        one_(trend.is_by_step ? "step" : "run") {}

  [[nodiscard]] std::string write() {
    page_.bold("penstock · " + command_text(newest().state.program));
    page_.dim(what_ran());
    verdict();
    runs();
    parts();
    efficiencies_of_runs();
    regions();
    circumstances();
    changes();
    closing();
    return page_.take();
  }

 private:
  using Cells = std::vector<std::string>;
  using Shown = std::function<std::string(const TrendRun& run)>;

  [[nodiscard]] static double longest_ns(const Trend& trend) {
    const auto longest = std::max_element(
        trend.runs.begin(), trend.runs.end(),
        [](const TrendRun& left, const TrendRun& right) { return left.time_ns < right.time_ns; });
    return longest->time_ns;
  }
  [[nodiscard]] const TrendRun& newest() const { return trend_.runs.back(); }

  /// Returns a fact that all runs share; empty if they do not.
  [[nodiscard]] std::string common(const Shown& fact) const {
    std::set<std::string> values;
    for (const TrendRun& run : trend_.runs) {
      values.insert(fact(run));
    }
    return values.size() == 1 ? *values.begin() : "";
  }
  [[nodiscard]] static std::string ranks_of(const TrendRun& run) {
    return std::to_string(run.state.world_size);
  }
  [[nodiscard]] static std::string hosts_of(const TrendRun& run) {
    return fmt::format("{}", fmt::join(run.state.hosts, ", "));
  }
  [[nodiscard]] static std::string gpus_of(const TrendRun& run) {
    return run.state.simulated_gpu ? "simulated GPU" : fmt::format("{}", fmt::join(run.state.devices, ", "));
  }
  [[nodiscard]] static std::string mpi_of(const TrendRun& run) {
    return short_version(run.state.mpi_version);
  }
  [[nodiscard]] static std::string driver_of(const TrendRun& run) { return run.facts.driver; }

  [[nodiscard]] std::string what_ran() const {
    const std::size_t count = trend_.runs.size();
    std::string text = fmt::format("{} run{}", count, count == 1 ? "" : "s");
    if (const std::string ranks = common(ranks_of); !ranks.empty()) {
      text += fmt::format(" of {} rank{}", ranks, ranks == "1" ? "" : "s");
    }
    if (const std::string hosts = common(hosts_of); !hosts.empty()) {
      text += " on " + hosts;
    }
    for (const Shown& each : {Shown(mpi_of), Shown(gpus_of)}) {
      if (const std::string fact = common(each); !fact.empty()) {
        text += " · " + fact;
      }
    }
    if (const std::string driver = common(driver_of); !driver.empty()) {
      text += " · driver " + driver;
    }
    return printable(text);
  }

  void verdict() {
    page_.line();
    const std::string newest_takes = fmt::format(
        "The newest run takes {}{}", unit_.with_unit(newest().time_ns), trend_.is_by_step ? " a step" : "");
    if (!newest().change) {
      return page_.bold(newest_takes + ". There is no run before it to compare with.");
    }
    const DiffRow& time = newest().change->totals.front();
    std::string text = newest_takes + ": ";
    switch (time.verdict) {
      case Verdict::less:
      case Verdict::more:
        text += fmt::format("{:.1f} % {} than the run before it", std::abs(share_changed(time)),
                            time.verdict == Verdict::more ? "more" : "less");
        if (const std::string parts = changed_parts(newest()); !parts.empty()) {
          text += " (" + parts + ")";
        }
        break;
      case Verdict::jitter:
        text += fmt::format("as long as the run before it, within jitter ({:+.1f} %)", share_changed(time));
        break;
      case Verdict::unknown:
        text += fmt::format("{:+.1f} % against the run before it; whether that is jitter is not known",
                            share_changed(time));
        break;
    }
    if (trend_.since_first) {
      text += fmt::format("; {:+.1f} % against the first one{}", share_changed(*trend_.since_first),
                          trend_.since_first->verdict == Verdict::jitter ? ", within jitter" : "");
    }
    page_.bold(text + ".");
  }

  [[nodiscard]] static double share_changed(const DiffRow& row) {
    return row.before_ns == 0 ? 0 : 100 * (row.after_ns - row.before_ns) / row.before_ns;
  }

  /// Returns "late sender +0.953, host code −0.021 ms": the changes of parts that are more than jitter.
  [[nodiscard]] std::string changed_parts(const TrendRun& run) const {
    std::vector<const DiffRow*> changed;
    for (const DiffRow& each : run.change->parts) {
      if (is_change(each)) {
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

  /// Prints a table with a row for each run that is shown; `cells_of`: behind the run's number.
  template <typename CellsOf>
  void table(std::vector<Column> columns, const CellsOf& cells_of) {
    columns.insert(columns.begin(), {"Run", Align::right});
    TextTable rows(std::move(columns));
    for (std::size_t i = first_; i < trend_.runs.size(); ++i) {
      Cells cells = cells_of(trend_.runs[i]);
      cells.insert(cells.begin(), std::to_string(i + 1));
      rows.add_row(std::move(cells));
    }
    page_.table(rows);
  }

  void runs() {
    std::vector<Column> columns{
        {"began"}, {"commit"}, {fmt::format("{} {}", one_, unit_.name()), Align::right}};
    if (trend_.is_by_step) {
      columns.push_back({"median", Align::right});
      columns.push_back({"quartiles", Align::right});
    }
    columns.push_back({"change", Align::right});
    columns.push_back({trend_.is_exposed ? "exposed" : "in MPI", Align::right});
    columns.push_back({""});
    const double most_ns = longest_ns(trend_);
    table(std::move(columns), [&](const TrendRun& run) {
      Cells cells{moment_text(run.state.began_realtime_ns),
                  or_unknown(run.facts.commit.substr(0, commit_columns)), unit_.number(run.time_ns)};
      if (run.step_quartiles) {
        cells.push_back(unit_.number(run.step_quartiles->median));
        cells.push_back(fmt::format("{} … {}", unit_.number(run.step_quartiles->low),
                                    unit_.number(run.step_quartiles->high)));
      }
      cells.push_back(run.change ? change_in_words(run.change->totals.front()) : "");
      cells.push_back(run.counted_share ? percent_text(*run.counted_share) : std::string(unknown_text));
      cells.push_back(most_ns == 0 ? "" : bar_text(run.time_ns / most_ns, bar_columns));
      return cells;
    });
    if (first_ != 0) {
      page_.dim(fmt::format("… and {} earlier (--top {})", first_, trend_.runs.size()));
    }
  }

  /// Returns a time with the mark of its change.
  [[nodiscard]] std::string marked(double time_ns, const std::vector<DiffRow>* rows,
                                   std::string_view name) const {
    std::string_view mark;
    if (rows != nullptr) {
      const auto found =
          std::find_if(rows->begin(), rows->end(), [&](const DiffRow& each) { return each.name == name; });
      mark = found == rows->end() ? "" : mark_of(found->verdict);
    }
    return unit_.number(time_ns) + std::string(mark.empty() ? "  " : mark);
  }

  /// Returns the parts that have most time in any run, in their usual order.
  [[nodiscard]] std::vector<std::size_t> parts_shown() const {
    std::vector<std::pair<double, std::size_t>> most;
    for (std::size_t i = 0; i < part_count; ++i) {
      double most_ns = 0;
      for (const TrendRun& run : trend_.runs) {
        most_ns = std::max(most_ns, run.parts_ns ? (*run.parts_ns)[i] : 0);
      }
      if (most_ns > 0) {
        most.emplace_back(most_ns, i);
      }
    }
    std::sort(most.rbegin(), most.rend());
    most.resize(std::min(most.size(), most_parts));
    std::vector<std::size_t> shown;
    for (const auto& [most_ns, part] : most) {
      shown.push_back(part);
    }
    std::sort(shown.begin(), shown.end());
    return shown;
  }

  void parts() {
    const std::vector<std::size_t> shown = parts_shown();
    if (shown.empty()) {
      return;
    }
    std::vector<Column> columns;
    for (const std::size_t part : shown) {
      columns.push_back({fmt::format("{}{}  ", name_of(static_cast<TimePart>(part)),
                                     columns.empty() ? fmt::format(" {}", unit_.name()) : ""),
                         Align::right, true});
    }
    const bool has_others = shown.size() == most_parts;
    if (has_others) {
      columns.push_back({"other", Align::right});
    }
    table(std::move(columns), [&](const TrendRun& run) {
      if (!run.parts_ns) {
        return Cells(shown.size() + (has_others ? 1 : 0), std::string(unknown_text));
      }
      Cells cells;
      double other_ns = std::accumulate(run.parts_ns->begin(), run.parts_ns->end(), 0.0);
      for (const std::size_t part : shown) {
        other_ns -= (*run.parts_ns)[part];
        cells.push_back(marked((*run.parts_ns)[part], run.change ? &run.change->parts : nullptr,
                               name_of(static_cast<TimePart>(part))));
      }
      if (has_others) {
        cells.push_back(unit_.number(std::max(other_ns, 0.0)));
      }
      return cells;
    });
  }

  void efficiencies_of_runs() {
    const auto is_known = [](const TrendRun& run) { return run.efficiency.has_value(); };
    if (std::none_of(trend_.runs.begin(), trend_.runs.end(), is_known)) {
      return;
    }
    table({{"parallel efficiency", Align::right},
           {"load balance", Align::right},
           {"serialisation", Align::right},
           {"transfer", Align::right},
           {"GPU efficiency", Align::right}},
          [](const TrendRun& run) {
            if (!run.efficiency) {
              return Cells(5, std::string(unknown_text));
            }
            return Cells{
                percent_text(run.efficiency->parallel), percent_text(run.efficiency->load_balance),
                percent_text(run.efficiency->serialisation), percent_text(run.efficiency->transfer),
                run.gpu_efficiency ? percent_text(run.gpu_efficiency->parallel) : std::string(unknown_text)};
          });
  }

  void regions() {
    for (std::size_t first = 0; first < trend_.regions.size(); first += most_regions) {
      regions(first, std::min(first + most_regions, trend_.regions.size()));
    }
  }
  void regions(std::size_t first, std::size_t end) {
    std::vector<Column> columns;
    for (std::size_t i = first; i < end; ++i) {
      columns.push_back(
          {fmt::format("{} {}  ", printable(trend_.regions[i]), unit_.name()), Align::right, true});
      columns.push_back({trend_.is_exposed ? "exposed" : "in MPI", Align::right});
    }
    table(std::move(columns), [&](const TrendRun& run) {
      Cells cells;
      for (std::size_t i = first; i < end; ++i) {
        const std::optional<TrendRegion>& region = run.regions[i];
        cells.push_back(
            region ? marked(region->total_ns, run.change ? &run.change->regions : nullptr, trend_.regions[i])
                   : std::string(unknown_text));
        cells.push_back(region && region->counted_ns && region->total_ns > 0
                            ? percent_text(*region->counted_ns / region->total_ns)
                            : std::string(unknown_text));
      }
      return cells;
    });
  }

  /// Prints what differs between the runs besides the program.
  void circumstances() {
    std::vector<Column> columns;
    std::vector<Shown> facts;
    const auto add_if_different = [&](const char* title, Shown fact, bool gives_way = false) {
      if (trend_.runs.size() > 1 && common(fact).empty()) {
        const bool is_known = std::any_of(trend_.runs.begin(), trend_.runs.end(),
                                          [&](const TrendRun& run) { return !fact(run).empty(); });
        if (is_known) {
          columns.push_back({title, Align::left, gives_way});
          facts.push_back(std::move(fact));
        }
      }
    };
    add_if_different(
        "recording", [](const TrendRun& run) { return run.recording; }, true);
    add_if_different(
        "job", [](const TrendRun& run) { return run.facts.batch_job; }, true);
    add_if_different("ranks", ranks_of);
    add_if_different("nodes", hosts_of, true);
    add_if_different("GPUs", gpus_of, true);
    add_if_different("driver", driver_of);
    add_if_different("MPI", mpi_of);
    if (facts.empty()) {
      return;
    }
    table(std::move(columns), [&](const TrendRun& run) {
      Cells cells;
      for (const Shown& fact : facts) {
        cells.push_back(or_unknown(fact(run)));
      }
      return cells;
    });
  }

  /// Prints a line for each run whose time changed.
  void changes() {
    bool is_first = true;
    for (std::size_t i = first_; i < trend_.runs.size(); ++i) {
      const TrendRun& run = trend_.runs[i];
      if (!run.change || !is_change(run.change->totals.front())) {
        continue;
      }
      if (std::exchange(is_first, false)) {
        page_.line();
      }
      const DiffRow& time = run.change->totals.front();
      const std::string commit =
          run.facts.commit.empty() ? "" : fmt::format(" ({})", run.facts.commit.substr(0, commit_columns));
      const std::string parts = changed_parts(run);
      page_.plain(printable(fmt::format(
          "Run {}{}: {:+.3f} {} ± {} a {}{}{}", i + 1, commit, (time.after_ns - time.before_ns) / unit_.ns(),
          unit_.name(), unit_.number(time.margin_ns.value_or(0)), one_, parts.empty() ? "" : ": ", parts)));
    }
  }

  void closing() {
    page_.line();
    std::string text = fmt::format("Time a {} of the average rank. ", one_);
    if (trend_.runs.size() == 1) {
      text += "Give the recordings of several runs for a history.";
    } else if (trend_.is_by_step) {
      text +=
          "▲ ▼: more, less than in the run before, beyond the 95 % confidence interval from how the steps of "
          "both vary; runs may differ by more. Median and quartiles: of the steps.";
    } else {
      text +=
          "No steps were found in all runs, so that a change cannot be told from jitter (?): name an NVTX "
          "range with --step.";
    }
    page_.dim(text);
    for (std::size_t i = 0; i < trend_.runs.size(); ++i) {
      const TrendRun& run = trend_.runs[i];
      if (!run.what_is_missing.empty()) {
        page_.warning(fmt::format("run {}: {}", i + 1, run.what_is_missing));
      }
      if (run.change) {
        for (const std::string& remark : run.change->remarks) {
          page_.warning(fmt::format("run {} and the one before: {}", i + 1, remark));
        }
      }
    }
    for (std::size_t i = 0; i < trend_.regions.size(); ++i) {
      if (std::none_of(trend_.runs.begin(), trend_.runs.end(),
                       [i](const TrendRun& run) { return run.regions[i].has_value(); })) {
        page_.warning(fmt::format("no run has an NVTX range \"{}\"", trend_.regions[i]));
      }
    }
    for (const LeftOut& each : left_out_) {
      page_.warning(fmt::format("left out: {}", each.why));
    }
  }

  const Trend& trend_;
  const std::vector<LeftOut>& left_out_;
  TextPage page_;
  std::size_t first_;  ///< of the runs that are shown
  TimeUnit unit_;
  const char* one_;
};

}  // namespace

std::string to_text(const Trend& trend, const std::vector<LeftOut>& left_out, bool colours, std::size_t top) {
  return TrendWriter(trend, left_out, colours, top).write();
}

}  // namespace penstock::analysis
