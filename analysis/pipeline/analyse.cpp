#include "analysis/pipeline/analyse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "analysis/joining/job_axis.hpp"
#include "analysis/pipeline/counting.hpp"
#include "analysis/pipeline/joined_job.hpp"
#include "analysis/pipeline/metrics.hpp"
#include "analysis/pipeline/unknown_part.hpp"
#include "analysis/recording/job.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/report/conclusions/advice.hpp"
#include "analysis/sharing/parallel.hpp"
#include "analysis/sharing/teamwork.hpp"
#include "analysis/unfinished/unfinished.hpp"

namespace penstock::analysis {
namespace {

/// Finds the job on the first member; all members use its result.
Job find_job_together(const std::filesystem::path& path, Team* team) {
  if (team == nullptr) {
    return find_job(path);
  }
  Job job;
  std::vector<Flaw> failure;
  if (team->own() == 0) {
    try {
      job = find_job(path);
    } catch (const TraceError& error) {
      failure.push_back(error.flaw());
    }
  }
  broadcast(*team, 0, job, failure);
  if (!failure.empty()) {
    throw CommonTraceError(failure.front());
  }
  return job;
}

/// Returns the mark of the steps that are counted; nullopt if the whole run is.
std::optional<StepMark> choose_steps(const std::filesystem::path& path, const AnalysisOptions& options,
                                     JoinedJob& joined) {
  if (options.step_range.empty()) {
    return options.whole_run ? std::nullopt : joined.steps.found();
  }
  std::optional<StepMark> mark = joined.steps.range(options.step_range);
  if (!mark) {
    joined.job.flaws.push_back(
        {path, std::nullopt,
         fmt::format("no NVTX range \"{}\" in it, so the whole run is counted", options.step_range)});
  }
  return mark;
}

/// Runs the third pass, for a visitor that needs the ranks again.
void show_ranks(const JoinedJob& joined, const Report& report, KeptNames& kept, RankVisitor& visitor,
                Meter& meter) {
  RankTrace rank;
  for (const std::size_t position : joined.counted) {
    meter.advance(2 * Meter::records_in(joined.job.files[position]), "drawing");
  }
  visitor.begin(report, joined.index, kept);
  for (const std::size_t position : joined.counted) {
    load_rank(joined.job.files[position], rank, LoadOf::all, joined.job.known[position]);
    visitor.visit(rank, position, joined.index);
    meter.advance(Meter::records_in(joined.job.files[position]), "drawing");
  }
}

/// Returns the report on the first member, nullopt on others.
std::optional<Report> run(const std::filesystem::path& path, const AnalysisOptions& options, Team* team,
                          RankVisitor* visitor) {
  JoinedJob joined;
  joined.job = find_job_together(path, team);
  Job own_files;
  const Share own = own_share(joined.job.files.size(), team);
  own_files.files.assign(joined.job.files.begin() + static_cast<std::ptrdiff_t>(own.begin),
                         joined.job.files.begin() + static_cast<std::ptrdiff_t>(own.end));
  const unsigned wanted = options.threads == 0 ? usable_threads() : options.threads;
  const auto threads = static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, joined.job.files.size()));
  // Replaying takes about as long as two passes.
  Meter meter(own_files, visitor == nullptr ? 4 : 5, options.progress);
  join_ranks(options.only_rank, threads, team, meter, joined);
  if (joined.counted.empty()) {
    throw CommonTraceError(
        {path, std::nullopt, fmt::format("no recording of rank {} in it", *options.only_rank)});
  }
  const std::optional<StepMark> mark = choose_steps(path, options, joined);
  const JobAxis axis(joined.index);
  // Same numbers as the joined tables, but free to grow while other threads look up the mark in those.
  StringPool strings;
  SiteTable sites(strings);
  static_cast<void>(sites.take_in(joined.sites, strings.take_in(joined.strings)));
  KeptNames kept(path);
  const Counting counting{joined, axis, mark, threads, team, visitor, options.skip, kept};
  Metrics metrics(counting.context(strings, sites, FigureContext::Use::whole));
  metrics.join_alike_sites(options.skip, kept);
  metrics.replay().ask(options.what_if);
  counting.count(metrics, meter);
  if (team != nullptr && team->own() != 0) {
    return std::nullopt;
  }
  meter.advance(0, "replaying");
  if (counting.needs_all_ranks(metrics)) {
    if (team != nullptr) {
      join_all_messages(threads, joined);
    }
    counting.show_all_ranks(metrics);
  }
  Report report = metrics.finish();
  forget_part_without_records(report);
  if (!mark) report.missing_step = options.step_range;
  report.is_whole_run = options.whole_run;
  std::vector<Flaw>& flaws = joined.job.flaws;
  report.flaws.insert(report.flaws.begin(), std::make_move_iterator(flaws.begin()),
                      std::make_move_iterator(flaws.end()));
  report.unfinished = look_at_unfinished(joined.job, {.skip = options.skip, .kept = &kept});
  if (report.unfinished) {
    // calls that never returned may be the only ones from a module
    std::copy_if(report.unfinished->flaws.begin(), report.unfinished->flaws.end(),
                 std::back_inserter(report.flaws), [&report](const Flaw& flaw) {
                   const std::vector<std::string>& said = report.rebuilt_modules;
                   return std::find(said.begin(), said.end(), flaw.file) == said.end();
                 });
  }
  report.advice = advise(report);
  if (visitor != nullptr) {
    show_ranks(joined, report, kept, *visitor, meter);
  }
  kept.save();
  return report;
}

}  // namespace

Report analyse(const std::filesystem::path& path, const AnalysisOptions& options, RankVisitor* visitor) {
  return *run(path, options, nullptr, visitor);
}

std::optional<Report> analyse_together(const std::filesystem::path& path, const AnalysisOptions& options,
                                       Team& team, RankVisitor* visitor) {
  return run(path, options, &team, visitor);
}

}  // namespace penstock::analysis
