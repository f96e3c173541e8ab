#include "analysis/comparison/run_spread.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "analysis/report/text_figures.hpp"
#include "analysis/tables/confidence.hpp"
#include "analysis/tables/median.hpp"

namespace penstock::analysis {
namespace {

using Rows = std::vector<DiffRow> Diff::*;

constexpr std::size_t least_pairs = 2;
constexpr double normal_median = 0.6745;  ///< of absolute values, in standard deviations

/// Returns the same text for runs that should take equally long.
std::string circumstances_of(const ComparedState& state) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", command_text(state.program), state.world_size,
                     short_version(state.mpi_version), state.simulated_gpu, fmt::join(state.devices, "\n"));
}

/// Returns the median, of an even number the mean of both in the middle: the upper one would make two
/// differences count as the larger.
double middle_of(std::vector<double> values) {
  const double upper = median_of(values).value_or(0);
  for (double& each : values) {
    each = -each;
  }
  return (upper - median_of(values).value_or(0)) / 2;
}

/// Returns what a difference between two runs stays below in 95 % of all cases; none: too few are known.
std::optional<double> margin_of(const std::vector<double>& differences_ns) {
  const std::size_t count = differences_ns.size();
  return count < least_pairs ? std::nullopt
                             : std::optional(student_t(count) / normal_median * middle_of(differences_ns));
}

void widen_to(DiffRow& row, double runs_margin_ns) {
  row.runs_margin_ns = runs_margin_ns;
  row.margin_ns = std::max(row.margin_ns.value_or(0), runs_margin_ns);
  row.verdict = verdict_on(row);
}

/// The changes of one figure, by pair of neighbours.
class FigureChanges {
 public:
  explicit FigureChanges(std::size_t pairs) : rows_(pairs, nullptr), differences_ns_(pairs) {}

  /// Says that a pair has the figure's list, and so no change of it where it has no row.
  void list_of(std::size_t pair) { differences_ns_[pair] = 0; }
  void row_of(std::size_t pair, DiffRow& row) {
    rows_[pair] = &row;
    differences_ns_[pair] = std::abs(row.after_ns - row.before_ns);
  }

  /// `others`: of each pair, those that tell how it varies.
  void widen(const std::vector<std::vector<std::size_t>>& others) {
    std::vector<bool> is_change(rows_.size());
    for (std::size_t pair = 0; pair < rows_.size(); ++pair) {
      const std::optional<double> margin_ns = margin_of(differences(others[pair], {}));
      is_change[pair] = rows_[pair] != nullptr && margin_ns &&
                        *differences_ns_[pair] > std::max(*margin_ns, rows_[pair]->margin_ns.value_or(0));
    }
    for (std::size_t pair = 0; pair < rows_.size(); ++pair) {
      std::optional<double> margin_ns = margin_of(differences(others[pair], is_change));
      if (!margin_ns) {
        margin_ns = margin_of(differences(others[pair], {}));
      }
      if (rows_[pair] != nullptr && margin_ns) {
        widen_to(*rows_[pair], *margin_ns);
      }
    }
  }

 private:
  [[nodiscard]] std::vector<double> differences(const std::vector<std::size_t>& pairs,
                                                const std::vector<bool>& left_out) const {
    std::vector<double> known_ns;
    for (const std::size_t pair : pairs) {
      if (differences_ns_[pair] && (left_out.empty() || !left_out[pair])) {
        known_ns.push_back(*differences_ns_[pair]);
      }
    }
    return known_ns;
  }

  std::vector<DiffRow*> rows_;  ///< null: the pair has no such row
  std::vector<std::optional<double>> differences_ns_;
};

/// Returns of each pair those others whose difference tells how its own varies: of the same program as one of
/// its runs, both with all their records.
std::vector<std::vector<std::size_t>> others_of(const std::vector<Diff>& changes) {
  std::vector<std::string> before;
  std::vector<std::string> after;
  for (const Diff& each : changes) {
    before.push_back(circumstances_of(each.before));
    after.push_back(circumstances_of(each.after));
  }
  std::vector<std::vector<std::size_t>> others(changes.size());
  for (std::size_t pair = 0; pair < changes.size(); ++pair) {
    for (std::size_t other = 0; other < changes.size(); ++other) {
      const bool is_alike = changes[other].is_by_step == changes[pair].is_by_step &&
                            changes[other].is_exposed == changes[pair].is_exposed;
      const bool is_same_program =
          before[other] == after[other] && (after[other] == after[pair] || after[other] == before[pair]);
      if (other != pair && changes[other].is_known && is_alike && is_same_program) {
        others[pair].push_back(other);
      }
    }
  }
  return others;
}

void widen_list(std::vector<Diff>& changes, Rows rows, const std::vector<std::vector<std::size_t>>& others) {
  std::map<std::string, FigureChanges> figures;
  for (Diff& change : changes) {
    for (const DiffRow& row : change.*rows) {
      figures.try_emplace(row.name, changes.size());
    }
  }
  for (auto& named : figures) {
    const std::string& name = named.first;
    FigureChanges& figure = named.second;
    for (std::size_t pair = 0; pair < changes.size(); ++pair) {
      std::vector<DiffRow>& list = changes[pair].*rows;
      if (list.empty() || !changes[pair].is_known) {
        continue;
      }
      figure.list_of(pair);
      const auto found =
          std::find_if(list.begin(), list.end(), [&](const DiffRow& row) { return row.name == name; });
      if (found != list.end()) {
        figure.row_of(pair, *found);
      }
    }
    figure.widen(others);
  }
}

}  // namespace

void widen_by_runs(std::vector<Diff>& changes) {
  const std::vector<std::vector<std::size_t>> others = others_of(changes);
  for (const Rows rows : {&Diff::totals, &Diff::parts, &Diff::causes, &Diff::regions}) {
    widen_list(changes, rows, others);
  }
  for (std::size_t pair = 0; pair < changes.size(); ++pair) {
    const bool is_enough = changes[pair].is_known && others[pair].size() >= least_pairs;
    changes[pair].other_pairs = is_enough ? others[pair].size() : 0;
  }
}

void widen_as(DiffRow& row, const DiffRow& like) {
  if (like.runs_margin_ns) {
    widen_to(row, *like.runs_margin_ns);
  }
}

}  // namespace penstock::analysis
