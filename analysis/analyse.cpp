#include "analysis/analyse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/advice.hpp"
#include "analysis/job.hpp"
#include "analysis/messages.hpp"
#include "analysis/metrics.hpp"
#include "analysis/parallel.hpp"
#include "analysis/rank_facts.hpp"
#include "analysis/rank_trace.hpp"
#include "analysis/rank_window.hpp"

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

/// What a thread has of its own while the ranks are joined.
struct Joiner {
  RankTrace rank;
  RankFacts facts;
  RankSteps steps;
  StringPool strings;
  std::optional<SiteTable> sites;
};

/// And while the figures are made.
struct Counter {
  RankWindow window;
  StringPool strings;
  std::optional<SiteTable> sites;
  std::optional<Metrics> metrics;  ///< of one rank
};

struct JoinedJob {
  Job job;
  MessageIndex index;
  StringPool strings;
  SiteTable sites{strings};
  StepFinder steps;
  MeasureVote vote;
  std::vector<std::size_t> counted;  ///< positions in the index, and of files
};

/// The first pass.
void join_ranks(const AnalysisOptions& options, Meter& meter, JoinedJob& joined) {
  const std::vector<std::filesystem::path>& files = joined.job.files;
  std::vector<Joiner> joiners(options.threads);
  meter.advance(0, "reading");
  for_each_in_order(
      files.size(), options.threads,
      [&](std::size_t i, unsigned worker) {
        Joiner& own = joiners[worker];
        load_rank(files[i], own.rank, LoadOf::what_others_need);
        own.facts = facts_of(own.rank);
        own.strings = {};
        own.steps = possible_steps(own.rank, own.sites.emplace(own.strings));
      },
      [&](std::size_t i, unsigned worker) {
        Joiner& own = joiners[worker];
        joined.index.add(std::move(own.facts));
        joined.steps.add(own.steps, joined.sites.take_in(*own.sites, joined.strings.take_in(own.strings)));
        meter.advance(Meter::records_in(files[i]), "reading");
        if (!options.only_rank || *options.only_rank == own.rank.header.world_rank) {
          joined.counted.push_back(i);
          joined.vote.add(own.rank);
        }
      });
  joined.index.join(options.threads);
}

/// The mark of the steps that are counted; none: the whole run is.
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

/// The second pass.
void count_ranks(const AnalysisOptions& options, const JobAxis& axis, const std::optional<StepMark>& mark,
                 const JoinedJob& joined, Metrics& metrics, RankVisitor* visitor, Meter& meter) {
  const auto file_of = [&](std::size_t i) { return joined.job.files[joined.counted[i]]; };
  std::uint64_t all_records = 0;
  for (std::size_t i = 0; i < joined.counted.size(); ++i) {
    all_records += Meter::records_in(file_of(i));
  }
  std::vector<Counter> counters(options.threads);
  meter.advance(0, "counting");
  for_each_in_order(
      joined.counted.size(), options.threads,
      [&](std::size_t i, unsigned worker) {
        Counter& own = counters[worker];
        own.window.position = joined.counted[i];
        own.window.finder.reset();
        load_rank(file_of(i), own.window.rank);
        own.window.step_bounds =
            mark ? step_bounds(own.window.rank, *mark, joined.sites) : std::vector<std::uint64_t>{};
        own.strings = {};
        own.metrics.emplace(joined.index, axis, own.strings, own.sites.emplace(own.strings),
                            joined.vote.choice());
        own.metrics->add(own.window);
      },
      [&](std::size_t i, unsigned worker) {
        Counter& own = counters[worker];
        const std::vector<std::uint32_t> sites = metrics.merge(std::move(*own.metrics));
        metrics.add_to_graph(own.window, sites, all_records);
        if (visitor != nullptr) {
          visitor->note(own.window.rank, joined.index, own.window.step_bounds);
        }
        meter.advance(Meter::records_in(file_of(i)), "counting");
      });
}

/// The third one, for who wants to see the ranks again.
void show_ranks(const JoinedJob& joined, const Report& report, RankVisitor& visitor, Meter& meter) {
  RankTrace rank;
  for (const std::size_t position : joined.counted) {
    meter.advance(2 * Meter::records_in(joined.job.files[position]), "drawing");
  }
  visitor.begin(report, joined.index);
  for (const std::size_t position : joined.counted) {
    load_rank(joined.job.files[position], rank);
    visitor.visit(rank, position, joined.index);
    meter.advance(Meter::records_in(joined.job.files[position]), "drawing");
  }
}

}  // namespace

Report analyse(const std::filesystem::path& path, const AnalysisOptions& asked, RankVisitor* visitor) {
  JoinedJob joined;
  joined.job = find_job(path);
  AnalysisOptions options = asked;
  const unsigned threads = asked.threads == 0 ? usable_threads() : asked.threads;
  options.threads = static_cast<unsigned>(std::min<std::size_t>(threads, joined.job.files.size()));
  // Replaying takes about as long as two passes.
  Meter meter(joined.job, visitor == nullptr ? 4 : 5, options.progress);
  join_ranks(options, meter, joined);
  if (joined.counted.empty()) {
    throw TraceError({path, std::nullopt, fmt::format("no recording of rank {} in it", *options.only_rank)});
  }
  const std::optional<StepMark> mark = choose_steps(path, options, joined);
  const JobAxis axis(joined.index);
  // of the same numbers, and free to grow while other threads look for the mark in the joined ones
  StringPool strings;
  SiteTable sites(strings);
  static_cast<void>(sites.take_in(joined.sites, strings.take_in(joined.strings)));
  Metrics metrics(joined.index, axis, strings, sites, joined.vote.choice());
  count_ranks(options, axis, mark, joined, metrics, visitor, meter);
  meter.advance(0, "replaying");
  Report report = metrics.finish(mark);
  std::vector<Flaw>& flaws = joined.job.flaws;
  report.flaws.insert(report.flaws.begin(), std::make_move_iterator(flaws.begin()),
                      std::make_move_iterator(flaws.end()));
  report.advice = advise(report);
  if (visitor != nullptr) {
    show_ranks(joined, report, *visitor, meter);
  }
  return report;
}

}  // namespace penstock::analysis
