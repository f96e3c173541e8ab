// The figures of some ranks: explains each rank's waits, feeds them to all figures, and merges figures of
// other ranks. Must not know what is added up, how recordings are read or reports printed.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "analysis/causes/rank_window.hpp"
#include "analysis/figures/figure.hpp"
#include "analysis/pipeline/all_figures.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Sums of some ranks. The sums of several threads or processes, merged in rank order, equal the sums of all
/// ranks: they are whole numbers, so the division of work does not matter. Thread: one at a time. Memory:
/// proportional to the distinct call sites, peers and message classes, and four bytes a message.
class Metrics {
 public:
  explicit Metrics(const FigureContext& context) : context_(context), figures_(context) {}
  /// From now on sites that read alike have one number where parts are merged. Call it before.
  void join_alike_sites(const SkipPatterns& skip, KeptNames& kept);
  /// Adds a rank. `window` must contain the rank, its position and its step bounds; add() fills in the rest.
  void add(RankWindow& window);
  /// Merges sums of ranks that follow all of these ranks.
  void merge(Metrics&& part);
  /// Returns this object's number for each site of `part`.
  [[nodiscard]] std::vector<std::uint32_t> sites_of(const Metrics& part);
  [[nodiscard]] ReplayFigure& replay() noexcept { return figures_.get<ReplayFigure>(); }
  /// See archive.hpp. Includes its tables of texts and sites.
  auto members() { return std::tie(context_.strings, context_.sites, figures_); }
  /// Returns the report with named call sites. Call it once, and join_alike_sites() before.
  [[nodiscard]] Report finish();

 private:
  [[nodiscard]] std::vector<std::uint32_t> joined(std::vector<std::uint32_t> paths) const;
  void number_sites(RankWindow& window);
  void add_calls(const RankInput& rank);
  void add_halves(const RankInput& rank);
  void add_call(const RankInput& rank, const HostSegment& segment, MeasureCursor& hidden);
  void add_calls_within_others(const RankInput& rank);

  FigureContext context_;
  std::unique_ptr<SiteNames> names_;  ///< null: sites are not joined
  AllFigures figures_;
};

}  // namespace penstock::analysis
