#include "analysis/analyse.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice.hpp"
#include "analysis/job.hpp"
#include "analysis/messages.hpp"
#include "analysis/metrics.hpp"
#include "analysis/rank_trace.hpp"

namespace penstock::analysis {
namespace {

/// Exposed communication can be told only if each rank that used a GPU has its kernels recorded.
class MeasureVote {
 public:
  void add(const RankTrace& rank) {
    if (!rank.used_gpu()) {
      return;
    }
    any_gpu_ = true;
    if (!rank.has(trace::feature::kernels) && why_not_.empty()) {
      const std::string_view note = rank.header.features_note;
      why_not_ = fmt::format("GPU kernels of rank {} were not recorded{}{}", rank.header.world_rank,
                             note.empty() ? "" : ": ", note);
    }
  }
  [[nodiscard]] MeasureChoice choice() const {
    if (!any_gpu_) {
      return {Measure::communication_time, "the program used no GPU"};
    }
    return {why_not_.empty() ? Measure::exposed_communication : Measure::communication_time, why_not_};
  }

 private:
  bool any_gpu_ = false;
  std::string why_not_;
};

}  // namespace

Report analyse(const std::filesystem::path& path, const AnalysisOptions& options, RankVisitor* visitor) {
  Job job = find_job(path);
  // Replaying takes about as long as two passes.
  Meter meter(job, visitor == nullptr ? 4 : 5, options.progress);
  MessageIndex index;
  MeasureVote vote;
  std::vector<std::size_t> counted;
  StringPool strings;
  SiteTable sites(strings);
  StepFinder steps(sites);
  RankTrace rank;
  for (const std::filesystem::path& file : job.files) {
    meter.advance(0, "reading");
    load_rank(file, rank);
    index.add(rank);
    steps.add(rank);
    meter.advance(Meter::records_in(file), "reading");
    if (!options.only_rank || *options.only_rank == rank.header.world_rank) {
      counted.push_back(index.rank_count() - 1);
      vote.add(rank);
    }
  }
  if (counted.empty()) {
    throw TraceError({path, std::nullopt, fmt::format("no recording of rank {} in it", *options.only_rank)});
  }
  index.join();

  std::optional<StepMark> step_mark;
  if (!options.step_range.empty()) {
    step_mark = steps.range(options.step_range);
    if (!step_mark) {
      job.flaws.push_back(
          {path, std::nullopt,
           fmt::format("no NVTX range \"{}\" in it, so the whole run is counted", options.step_range)});
    }
  } else if (!options.whole_run) {
    step_mark = steps.found();
  }
  Metrics metrics(index, strings, sites, vote.choice());
  for (const std::size_t position : counted) {
    load_rank(job.files[position], rank);
    const std::vector<std::uint64_t> bounds =
        step_mark ? step_bounds(rank, *step_mark, sites) : std::vector<std::uint64_t>{};
    metrics.add(rank, position, bounds);
    if (visitor != nullptr) {
      visitor->note(rank, index, bounds);
    }
    meter.advance(Meter::records_in(job.files[position]), "counting");
  }
  meter.advance(0, "replaying");
  Report report = metrics.finish(step_mark);
  report.flaws.insert(report.flaws.begin(), std::make_move_iterator(job.flaws.begin()),
                      std::make_move_iterator(job.flaws.end()));
  report.advice = advise(report);
  if (visitor != nullptr) {
    for (const std::size_t position : counted) {
      meter.advance(2 * Meter::records_in(job.files[position]), "drawing");
    }
    visitor->begin(report, index);
    for (const std::size_t position : counted) {
      if (counted.size() > 1) {  // else it is still there
        load_rank(job.files[position], rank);
      }
      visitor->visit(rank, position, index);
      meter.advance(Meter::records_in(job.files[position]), "drawing");
    }
  }
  return report;
}

}  // namespace penstock::analysis
