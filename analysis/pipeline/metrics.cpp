#include "analysis/pipeline/metrics.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::analysis {
namespace {

OutsideFigures outside(const IntervalSet& counted, std::uint64_t begin_ns, std::uint64_t end_ns) {
  return {end_ns - begin_ns, counted.measure_within_ns(begin_ns, end_ns)};
}

}  // namespace

void Metrics::add(RankWindow& window) {
  const RankTrace& trace = window.rank;
  number_sites(window);
  make_timeline(trace, window.timeline);
  window.window = {trace.begin_ns, trace.end_ns};

  const bool shows_exposed = context_.choice.measure == Measure::exposed_communication;
  const IntervalSet nothing;
  NameIds names(trace.strings, context_.strings);
  RankInput rank{
      trace,
      window,
      names,
      context_.axis.of(context_.index.host_of(trace)),
      !window.lacks_steps && (!shows_exposed || (trace.has(trace::feature::kernels) && trace.used_gpu())),
      shows_exposed ? window.timeline.exposed : window.timeline.host,
      shows_exposed ? window.timeline.kernels : nothing,
      {},
      {}};
  if (!window.step_bounds.empty()) {
    const auto in_run = [&](std::uint64_t time_ns) {
      return std::clamp(time_ns, trace.begin_ns, trace.end_ns);
    };
    window.window = {in_run(window.step_bounds.front()), in_run(window.step_bounds.back())};
    rank.before = outside(rank.counted, trace.begin_ns, window.window.begin_ns);
    rank.behind = outside(rank.counted, window.window.end_ns, trace.end_ns);
    cut_to(window.window, window.timeline);
  }
  std::vector<HandCopy> hand_copies;
  if (rank.is_counted) {
    hand_copies = find_hand_copies(trace, window.window, context_.sites);
    rank.hand_copies = hand_copies;
    window.finder.emplace(trace, window.position, context_.index);
    add_calls(rank);
  }
  add_halves(rank);
  figures_.add(rank);
}

/// Looks up each half once for all figures.
void Metrics::add_halves(const RankInput& rank) {
  CallCursor calls(rank.trace);
  for (std::size_t i = 0; i < rank.trace.halves.size(); ++i) {
    const JoinedHalf joined = context_.index.joined(rank.trace, rank.window.position, i);
    figures_.add(HalfInput{rank, rank.trace.halves[i], joined, calls});
  }
}

void Metrics::number_sites(RankWindow& window) {
  const RankTrace& rank = window.rank;
  context_.sites.begin_rank();
  window.site_of_call.assign(rank.calls.size(), RankWindow::no_site);
  for (std::size_t i = 0; i < rank.calls.size(); ++i) {
    const trace::MpiCall& call = rank.calls[i].record;
    if (communicates(call)) {
      window.site_of_call[i] = context_.sites.id_of(rank, call.call_site, call.function);
    }
  }
}

void Metrics::add_calls(const RankInput& rank) {
  MeasureCursor hidden(rank.hidden_by);
  for (const HostSegment& segment : rank.window.timeline.host_segments) {
    add_call(rank, segment, hidden);
  }
  if (rank.trace.calls_of_lanes().size() > 1) {
    add_calls_within_others(rank);
  }
}

/// Feeds the calls that lie wholly within those of other threads. Their time is counted there, and they are
/// calls all the same.
void Metrics::add_calls_within_others(const RankInput& rank) {
  std::vector<bool> is_fed(rank.trace.calls.size(), false);
  for (const HostSegment& segment : rank.window.timeline.host_segments) {
    is_fed[segment.call] = true;
  }
  const Interval window = rank.window.window;
  for (std::uint32_t i = 0; i < is_fed.size(); ++i) {
    const trace::MpiCall& call = rank.trace.calls[i].record;
    const std::uint32_t site = rank.window.site_of_call[i];
    if (!is_fed[i] && site != RankWindow::no_site && call.begin_ns < window.end_ns &&
        call.end_ns > window.begin_ns) {
      figures_.add(CallInput{rank, i, call, site, rank.window.finder->explain(i)});
    }
  }
}

/// Feeds the waits of a call, as far as its segment reaches, and then the call.
void Metrics::add_call(const RankInput& rank, const HostSegment& segment, MeasureCursor& hidden) {
  CallInput call{rank, segment.call, rank.trace.calls[segment.call].record,
                 rank.window.site_of_call[segment.call], rank.window.finder->explain(segment.call)};
  for (const CauseSpan& span : call.spans) {
    const std::uint64_t begin_ns = std::max(span.begin_ns, segment.begin_ns);
    const std::uint64_t end_ns = std::min(span.end_ns, segment.end_ns);
    if (begin_ns >= end_ns) {
      continue;
    }
    if (span.cause == Cause::gpu_not_ready) {
      call.gpu_wait_ns += end_ns - begin_ns;
    }
    const std::uint64_t counted_ns = end_ns - begin_ns - hidden.measure_within_ns(begin_ns, end_ns);
    if (counted_ns == 0) {
      continue;
    }
    if (span.cause == Cause::wire || span.cause == Cause::staging) {
      call.moving_ns += counted_ns;
    }
    figures_.add(
        WaitInput{call, span, begin_ns, end_ns, counted_ns, std::min(span.within_error_ns, counted_ns)});
  }
  figures_.add(call);
}

void Metrics::join_alike_sites(const SkipPatterns& skip, KeptNames& kept) {
  names_ = std::make_unique<SiteNames>(context_.strings, context_.sites, skip, &kept);
  context_.sites.join_alike([names = names_.get()](std::uint32_t site) { return names->first_alike(site); });
}

void Metrics::merge(Metrics&& part) {
  const std::vector<std::uint32_t> strings = context_.strings.take_in(part.context_.strings);
  const std::vector<std::uint32_t> paths = context_.sites.take_in(part.context_.sites, strings);
  merge_into(figures_, std::move(part.figures_), {strings, joined(paths), paths});
}

std::vector<std::uint32_t> Metrics::sites_of(const Metrics& part) {
  return joined(context_.sites.take_in(part.context_.sites, context_.strings.take_in(part.context_.strings)));
}

std::vector<std::uint32_t> Metrics::joined(std::vector<std::uint32_t> paths) const {
  for (std::uint32_t& each : paths) {
    each = context_.sites.joined(each);
  }
  return paths;
}

Report Metrics::finish() {
  Report report;
  figures_.finish(report, *names_);
  return report;
}

}  // namespace penstock::analysis
