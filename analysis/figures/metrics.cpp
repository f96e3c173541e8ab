#include "analysis/figures/metrics.hpp"

#include <algorithm>
#include <numeric>

namespace penstock::analysis {
namespace {

void add_once(std::vector<std::string>& list, const char* item) {
  if (item[0] != '\0' && std::find(list.begin(), list.end(), item) == list.end()) {
    list.emplace_back(item);
  }
}

/// Returns a cost from a header, where 0 means unknown.
std::optional<std::uint64_t> known(std::uint64_t cost_ns) {
  return cost_ns == 0 ? std::nullopt : std::optional(cost_ns);
}

/// The number of long waits in a report.
constexpr std::size_t most_long_waits = 20;

std::uint64_t sum_of(const TimeByCause& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

}  // namespace

Metrics::Metrics(const MessageIndex& index, const JobAxis& axis, StringPool& strings, SiteTable& sites,
                 MeasureChoice choice, Use use)
    : index_(index),
      use_(use),
      strings_(strings),
      sites_(sites),
      transports_(index),
      matrix_(index),
      kernels_(strings),
      collectives_(index, strings),
      late_receives_(index, strings),
      graph_(index),
      axis_(axis),
      longest_waits_(most_long_waits) {
  report_.measure = choice.measure;
  report_.why_not_exposed = std::move(choice.why_not);
  report_.one_clock = index.host_count() <= 1;
  report_.aligned_hosts = index.clocks().aligned_hosts();
  report_.host_clock_error_ns = index.clocks().error_ns();
  report_.unmatched_halves = index.unmatched_halves();
  if (index.host_count() > 1 && report_.aligned_hosts < index.host_count()) {
    give_up_replay("the clocks of some hosts could not be brought together");
  }
}

void Metrics::add(RankWindow& window) {
  const RankTrace& rank = window.rank;
  RankFigures figures;
  figures.rank = rank.header.world_rank;
  figures.host = rank.header.host_name;
  figures.finished = rank.finished;
  figures.used_gpu = rank.used_gpu();
  figures.kernels_known = rank.has(trace::feature::kernels) && figures.used_gpu;
  figures.records = rank.record_count;
  figures.dropped_records = rank.header.dropped_records;
  figures.dropped_gpu_records = rank.header.dropped_gpu_records;
  if (rank.finished) {
    figures.own_cost_ns = rank.header.own_cost_ns;
    figures.start_cost_ns = known(rank.header.start_cost_ns);
    figures.finish_cost_ns = known(rank.header.finish_cost_ns);
  }
  if (figures.kernels_known && rank.header.clock_error_ns != trace::clock_error_unknown) {
    figures.clock_error_ns = rank.header.clock_error_ns;
  }
  figures.is_counted = report_.measure == Measure::communication_time || figures.kernels_known;

  add_sites(window);
  add_run(window, figures);
  add_sets(window, figures);
  if (figures.is_counted) {
    ++report_.counted_ranks;
    report_.total_ns += figures.total_ns;
    steps_.begin_rank(figures.rank, window.step_bounds);
    window.finder.emplace(rank, window.position, index_);
    NameIds names(rank.strings, strings_);
    add_causes(window, names, figures);
    hand_staging_.add(
        rank, window.timeline, window.window,
        [&](std::uint64_t address, std::uint32_t function) { return site_of(rank, address, function); });
    kernels_.add(window.timeline, window.site_of_call, names);
    add_phases(window);
    replay_nodes_ += window.timeline.host_segments.size() * 2 + rank.kernels.size();
  }
  add_calls(window);
  transports_.add(rank, window.position, window.window);
  pairs_.push_back(matrix_.pairs_of(rank, window.position, window.window));
  add_job(rank);
  report_.ranks.push_back(std::move(figures));
}

void Metrics::add_sites(RankWindow& window) {
  const RankTrace& rank = window.rank;
  sites_.begin_rank();
  window.site_of_call.assign(rank.calls.size(), RankWindow::no_site);
  for (std::size_t i = 0; i < rank.calls.size(); ++i) {
    const trace::MpiCall& call = rank.calls[i].record;
    if (communicates(call)) {
      window.site_of_call[i] = site_of(rank, call.call_site, call.function);
    }
  }
}

/// Makes the rank's timeline and cuts it to the steps. Start-up and shutdown, the time outside the steps, are
/// added separately.
void Metrics::add_run(RankWindow& window, RankFigures& figures) {
  const RankTrace& rank = window.rank;
  window.window = {rank.begin_ns, rank.end_ns};
  make_timeline(rank, window.timeline);
  figures.run_ns = rank.run_end_ns - rank.begin_ns;
  figures.recorded_ns = std::min(figures.run_ns, window.own_known_until_ns - rank.begin_ns);
  figures.known_ns = rank.end_ns - rank.begin_ns;
  // of a job that was killed, the last record is no end of the run if later ones were dropped
  figures.is_known = !rank.is_cut() && (rank.finished || window.own_known_until_ns == trace::nothing_missing);
  if (window.step_bounds.empty()) {
    return;
  }
  Interval& steps = window.window;
  steps = {std::clamp(window.step_bounds.front(), rank.begin_ns, rank.end_ns),
           std::clamp(window.step_bounds.back(), rank.begin_ns, rank.end_ns)};
  if (figures.is_counted) {
    const IntervalSet& counted = counted_of(window.timeline);
    before_steps_.total_ns += steps.begin_ns - rank.begin_ns;
    before_steps_.counted_ns += counted.measure_within_ns(rank.begin_ns, steps.begin_ns);
    behind_steps_.total_ns += rank.end_ns - steps.end_ns;
    behind_steps_.counted_ns += counted.measure_within_ns(steps.end_ns, rank.end_ns);
  }
  cut_to(steps, window.timeline);
}

void Metrics::add_sets(RankWindow& window, RankFigures& figures) {
  const RankTrace& rank = window.rank;
  Timeline& timeline = window.timeline;
  figures.total_ns = window.window.end_ns - window.window.begin_ns;
  figures.kernels_ns = timeline.kernels.measure_ns();
  figures.host_ns = timeline.host.measure_ns();
  figures.in_flight_ns = timeline.in_flight.measure_ns();
  figures.communication_ns = timeline.communication.measure_ns();
  figures.exposed_ns = timeline.exposed.measure_ns();
  figures.hidden_ns = common_ns(timeline.communication, timeline.kernels);
  figures.upper_bound_ns = figures.communication_ns - figures.hidden_ns;

  const auto in_window = [&](IntervalSet& set) {
    set.assign_union_of(timeline.scratch);
    set.cut_to(window.window);
  };
  timeline.scratch.clear();
  for (const trace::CudaSynchronisation& each : rank.synchronisations) {
    if (each.own == 0) {
      timeline.scratch.push_back({each.begin_ns, each.end_ns});
    }
  }
  IntervalSet synchronised;
  in_window(synchronised);
  figures.cuda_synchronisation_ns = synchronised.measure_ns();
  const IntervalSet waiting = unite(timeline.host, synchronised);
  figures.computing_ns = figures.total_ns - waiting.measure_ns() + common_ns(waiting, timeline.kernels);

  IntervalSet gpu_work[2];
  for (const std::vector<trace::DeviceActivity>* list : {&rank.kernels, &rank.copies}) {
    timeline.scratch.clear();
    for (const trace::DeviceActivity& each : *list) {
      timeline.scratch.push_back({each.begin_ns, each.end_ns});
    }
    in_window(gpu_work[list == &rank.kernels ? 0 : 1]);
  }
  figures.gpu_busy_ns =
      gpu_work[0].measure_ns() + gpu_work[1].measure_ns() - common_ns(gpu_work[0], gpu_work[1]);
}

void Metrics::add_causes(RankWindow& window, NameIds& names, RankFigures& figures) {
  const RankTrace& rank = window.rank;
  CauseFinder& finder = *window.finder;
  const CollectiveSums::Caller caller{rank, window.timeline, names};
  const IntervalSet nothing;
  const IntervalSet& hidden_by =
      report_.measure == Measure::exposed_communication ? window.timeline.kernels : nothing;
  MeasureCursor hidden(hidden_by);
  const HostAxis& axis = axis_.of(index_.host_of(rank));
  const LateReceives::SiteOf site_of_posting = [&](std::uint64_t address, std::uint32_t function) {
    return site_of(rank, address, function);
  };
  for (const HostSegment& segment : window.timeline.host_segments) {
    const trace::MpiCall& call = rank.calls[segment.call].record;
    const std::uint32_t site = window.site_of_call[segment.call];
    const std::span<const CauseSpan> spans = finder.explain(segment.call);
    if (finder.arrivals() && call.waits != 0) {
      collectives_.add(caller, call, site, spans, *finder.arrivals());
    }
    add_operations(window, caller, segment.call, spans);
    std::uint64_t moving_ns = 0;
    for (const CauseSpan& span : spans) {
      const std::uint64_t begin_ns = std::max(span.begin_ns, segment.begin_ns);
      const std::uint64_t end_ns = std::min(span.end_ns, segment.end_ns);
      if (begin_ns >= end_ns) {
        continue;
      }
      if (span.cause == Cause::gpu_not_ready) {
        traffic_of_site_[site].gpu_wait_ns += end_ns - begin_ns;
      }
      const std::uint64_t counted_ns = end_ns - begin_ns - hidden.measure_within_ns(begin_ns, end_ns);
      if (counted_ns == 0) {
        continue;
      }
      moving_ns += span.cause == Cause::wire || span.cause == Cause::staging ? counted_ns : 0;
      const std::uint32_t communicator =
          span.counterpart.communicator != 0 ? span.counterpart.communicator : call.communicator;
      const std::uint64_t within_error_ns = std::min(span.within_error_ns, counted_ns);
      transports_.charge(span.counterpart.message_class, span.cause, counted_ns, within_error_ns);
      if (span.gap != Gap::none) {
        gaps_[{span.gap, sites_.sites()[site].function}] += counted_ns;
      }
      steps_.charge(begin_ns, end_ns, span.cause, counted_ns, hidden_by);
      if (longest_waits_.wants(figures.rank, counted_ns)) {
        longest_waits_.add({figures.rank,
                            {axis.at(begin_ns), axis.at(end_ns)},
                            counted_ns,
                            span.cause,
                            span.counterpart.rank,
                            site,
                            0,
                            within_error_ns});
      }
      facts_[{site, span.cause, span.counterpart.rank, rank.global_communicator(communicator)}] +=
          Waited{counted_ns, within_error_ns};
      figures.by_cause[static_cast<std::size_t>(span.cause)] += counted_ns;
      figures.within_error[static_cast<std::size_t>(span.cause)] += within_error_ns;
    }
    late_receives_.add(window, names, finder.halves_of(segment.call), moving_ns, site_of_posting);
  }
  figures.counted_ns = sum_of(figures.by_cause);
  report_.counted_ns += figures.counted_ns;
  for (std::size_t i = 0; i < cause_count; ++i) {
    report_.by_cause[i] += figures.by_cause[i];
    report_.within_error[i] += figures.within_error[i];
  }
}

/// Adds the non-blocking collectives that `call` completes. The call waited for the one whose last rank
/// arrived last. If messages complete in the call, too, only spans known to belong to the collective count.
void Metrics::add_operations(const RankWindow& window, const CollectiveSums::Caller& caller,
                             std::uint32_t call, std::span<const CauseSpan> spans) {
  const RankTrace& rank = window.rank;
  const std::span<const std::uint32_t> operations = window.finder->operations_of(call);
  if (operations.empty()) {
    return;
  }
  std::optional<std::size_t> last;
  std::vector<std::optional<Arrivals>> arrivals(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    arrivals[i] = index_.arrivals_at(rank, rank.operations[operations[i]].record);
    if (arrivals[i] && (!last || arrivals[i]->last_ns >= arrivals[*last]->last_ns)) {
      last = i;
    }
  }
  std::vector<CauseSpan> of_collective;
  for (const CauseSpan& span : spans) {
    if (!window.finder->completes_messages(call) || span.cause == Cause::collective_wait) {
      of_collective.push_back(span);
    }
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (arrivals[i]) {
      const trace::CollectiveOperation& operation = rank.operations[operations[i]].record;
      const std::uint32_t site = site_of(rank, operation.call_site, operation.function);
      collectives_.add(caller, operation, site,
                       i == last ? std::span<const CauseSpan>(of_collective) : std::span<const CauseSpan>{},
                       *arrivals[i]);
    }
  }
}

std::uint32_t Metrics::site_of(const RankTrace& rank, std::uint64_t address, std::uint32_t function) {
  const std::uint32_t site = sites_.id_of(rank, address, function);
  if (site >= traffic_of_site_.size()) {
    traffic_of_site_.resize(sites_.sites().size());
  }
  return site;
}

const IntervalSet& Metrics::counted_of(const Timeline& timeline) const noexcept {
  return report_.measure == Measure::exposed_communication ? timeline.exposed : timeline.host;
}

void Metrics::add_calls(const RankWindow& window) {
  for (std::size_t i = 0; i < window.rank.calls.size(); ++i) {
    const trace::MpiCall& call = window.rank.calls[i].record;
    if (window.site_of_call[i] != RankWindow::no_site && call.end_ns > window.window.begin_ns &&
        call.begin_ns < window.window.end_ns) {
      Traffic& traffic = traffic_of_site_[window.site_of_call[i]];
      traffic.calls += call.repeats;
      traffic.bytes += call.bytes;
    }
  }
}

void Metrics::add_phases(const RankWindow& window) {
  const RankTrace& rank = window.rank;
  std::map<std::uint32_t, std::vector<Interval>> by_name;
  auto last = by_name.end();
  for (const trace::Range& each : rank.ranges) {
    if (last == by_name.end() || last->first != each.name) {
      last = by_name.try_emplace(each.name).first;
    }
    last->second.push_back(
        {std::max(each.begin_ns, window.window.begin_ns), std::min(each.end_ns, window.window.end_ns)});
  }
  for (auto& [name, intervals] : by_name) {
    const IntervalSet phase = IntervalSet::union_of(std::move(intervals));
    if (phase.measure_ns() == 0) {
      continue;
    }
    auto& [total_ns, counted_ns] = phases_[rank.strings.at(name)];
    total_ns += phase.measure_ns();
    counted_ns += common_ns(counted_of(window.timeline), phase);
  }
}

void Metrics::add_job(const RankTrace& rank) {
  report_.simulated_gpu = report_.simulated_gpu || rank.has(trace::feature::simulated);
  report_.world_size = rank.header.world_size;
  if (report_.program.empty()) {
    report_.program = rank.header.program;
    report_.mpi_version = rank.header.mpi_version;
    report_.began_realtime_ns = rank.header.begin_ns + rank.header.realtime_offset_ns;
  }
  add_once(report_.hosts, rank.header.host_name);
  add_once(report_.devices, rank.header.device_name);
  for (const trace::Communicator& each : rank.communicators) {
    communicators_.try_emplace(each.global_id,
                               each.name == trace::no_string ? std::string{} : rank.strings.at(each.name),
                               each.size);
  }
  std::vector<std::string> said;
  for (const trace::Notice& each : rank.notices) {
    add_once(said, rank.strings.at(each.text).c_str());
  }
  for (std::string& text : said) {
    NoticeFigures& notice =
        notices_.try_emplace(text, NoticeFigures{text, 0, rank.header.world_rank}).first->second;
    ++notice.ranks;
  }
  report_.flaws.insert(report_.flaws.end(), rank.flaws.begin(), rank.flaws.end());
}

}  // namespace penstock::analysis
