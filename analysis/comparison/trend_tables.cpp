#include "analysis/comparison/trend_tables.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/comparison/trend_facts.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t bar_columns = 10;
constexpr std::size_t most_regions = 4;  ///< in one table
constexpr std::size_t most_parts = 6;    ///< shown in columns of their own
constexpr std::string_view unknown_text = "–";

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

class TrendTables {
 public:
  explicit TrendTables(TrendView& view) : view_(view) {}

  void runs() {
    std::vector<Column> columns{
        {"began"},
        {"commit"},
        {fmt::format("{} {}", view_.words.one(), view_.words.unit().name()), Align::right}};
    if (view_.trend.is_by_step) {
      columns.push_back({"median", Align::right});
      columns.push_back({"quartiles", Align::right});
    }
    columns.push_back({"change", Align::right});
    columns.push_back({view_.trend.is_exposed ? "exposed" : "in MPI", Align::right});
    columns.push_back({""});
    double longest_ns = 0;
    for (const TrendRun& run : view_.trend.runs) {
      longest_ns = std::max(longest_ns, run.time_ns);
    }
    table(std::move(columns), [&](const TrendRun& run) {
      Cells cells{moment_text(run.state.began_realtime_ns), or_unknown(commit_of(run)),
                  view_.words.unit().number(run.time_ns)};
      if (run.step_quartiles) {
        cells.push_back(view_.words.unit().number(run.step_quartiles->median));
        cells.push_back(fmt::format("{} … {}", view_.words.unit().number(run.step_quartiles->low),
                                    view_.words.unit().number(run.step_quartiles->high)));
      }
      cells.push_back(run.change ? change_in_words(run.change->totals.front()) : "");
      cells.push_back(run.counted_share ? percent_text(*run.counted_share) : std::string(unknown_text));
      cells.push_back(longest_ns == 0 ? "" : bar_text(run.time_ns / longest_ns, bar_columns));
      return cells;
    });
    if (view_.first != 0) {
      view_.page.dim(fmt::format("… and {} earlier (--top {})", view_.first, view_.trend.runs.size()));
    }
  }

  /// Returns the parts that have most time in any run, in their usual order.
  [[nodiscard]] std::vector<std::size_t> parts_shown() const {
    std::vector<std::pair<double, std::size_t>> most;
    for (std::size_t i = 0; i < part_count; ++i) {
      double most_ns = 0;
      for (const TrendRun& run : view_.trend.runs) {
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
                                     columns.empty() ? fmt::format(" {}", view_.words.unit().name()) : ""),
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
        cells.push_back(view_.words.unit().number(std::max(other_ns, 0.0)));
      }
      return cells;
    });
  }

  void efficiencies_of_runs() {
    const auto is_known = [](const TrendRun& run) { return run.efficiency.has_value(); };
    if (std::none_of(view_.trend.runs.begin(), view_.trend.runs.end(), is_known)) {
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
    for (std::size_t first = 0; first < view_.trend.regions.size(); first += most_regions) {
      regions(first, std::min(first + most_regions, view_.trend.regions.size()));
    }
  }
  void regions(std::size_t first, std::size_t end) {
    std::vector<Column> columns;
    for (std::size_t i = first; i < end; ++i) {
      columns.push_back({fmt::format("{} {}  ", printable(view_.trend.regions[i]), view_.words.unit().name()),
                         Align::right, true});
      columns.push_back({view_.trend.is_exposed ? "exposed" : "in MPI", Align::right});
    }
    table(std::move(columns), [&](const TrendRun& run) {
      Cells cells;
      for (std::size_t i = first; i < end; ++i) {
        const std::optional<TrendRegion>& region = run.regions[i];
        cells.push_back(region ? marked(region->total_ns, run.change ? &run.change->regions : nullptr,
                                        view_.trend.regions[i])
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
    struct Named {
      const char* title;
      RunFact fact;
      bool gives_way;
    };
    constexpr Named all[] = {{"recording", recording_of, true},
                             {"job", job_of, true},
                             {"ranks", ranks_of, false},
                             {"nodes", hosts_of, true},
                             {"GPUs", gpus_or_none_of, true},
                             {"driver", driver_of, false},
                             {"MPI", mpi_of, false}};
    std::vector<Column> columns;
    std::vector<RunFact> facts;
    for (const Named& each : all) {
      if (differ(view_.trend, each.fact)) {
        columns.push_back({each.title, Align::left, each.gives_way});
        facts.push_back(each.fact);
      }
    }
    if (facts.empty()) {
      return;
    }
    table(std::move(columns), [&](const TrendRun& run) {
      Cells cells;
      for (const RunFact fact : facts) {
        cells.push_back(or_unknown(fact(run)));
      }
      return cells;
    });
  }

 private:
  using Cells = std::vector<std::string>;

  /// Prints a table with a row for each run that is shown; `cells_of`: behind the run's number.
  template <typename CellsOf>
  void table(std::vector<Column> columns, const CellsOf& cells_of) {
    columns.insert(columns.begin(), {"Run", Align::right});
    TextTable rows(std::move(columns));
    for (std::size_t i = view_.first; i < view_.trend.runs.size(); ++i) {
      Cells cells = cells_of(view_.trend.runs[i]);
      cells.insert(cells.begin(), std::to_string(i + 1));
      rows.add_row(std::move(cells));
    }
    view_.page.table(rows);
  }

  /// Returns a time with the mark of its change.
  [[nodiscard]] std::string marked(double time_ns, const std::vector<DiffRow>* rows,
                                   std::string_view name) const {
    std::string_view mark;
    if (rows != nullptr) {
      const auto found =
          std::find_if(rows->begin(), rows->end(), [&](const DiffRow& each) { return each.name == name; });
      mark = found == rows->end() || !view_.words.shows(*found) ? "" : mark_of(found->verdict);
    }
    return view_.words.unit().number(time_ns) + std::string(mark.empty() ? "  " : mark);
  }

  TrendView& view_;
};

}  // namespace

void write_tables(TrendView& view) {
  TrendTables tables(view);
  tables.runs();
  tables.parts();
  tables.efficiencies_of_runs();
  tables.regions();
  tables.circumstances();
}

}  // namespace penstock::analysis
