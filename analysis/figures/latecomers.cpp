#include "analysis/figures/latecomers.hpp"

#include <algorithm>
#include <utility>

namespace penstock::analysis {
namespace {

constexpr std::size_t most_steps = 8;  // that a row names

}  // namespace

/// What a rank did, once for all of its sites.
struct Latecomers::Meanwhile {
  Meanwhile(const RankInput& rank, const std::optional<StepMark>& mark) : places(mark, rank) {
    const Timeline& timeline = rank.window.timeline;
    const IntervalSet in_kernels_or_mpi = unite(timeline.kernels, timeline.host);
    bare_copies = subtract(timeline.copies, in_kernels_or_mpi);
    const IntervalSet or_copies = unite(in_kernels_or_mpi, timeline.copies);
    launches = subtract(timeline.launched, or_copies);
    not_host_code = unite(or_copies, launches);
  }
  IntervalSet bare_copies;  ///< the application's, while no kernel runs and the host is outside MPI
  IntervalSet launches;     ///< of its kernels, while none of these
  IntervalSet not_host_code;
  PlaceFinder places;
};

void Latecomers::note(const RankInput& rank, std::uint32_t site, Interval late, std::uint64_t error_ns) {
  const Interval window = rank.window.window;
  late = {std::max(late.begin_ns, window.begin_ns), std::min(late.end_ns, window.end_ns)};
  if (late.begin_ns < late.end_ns) {
    Waits& waits = waits_[site];
    waits.times.push_back(late);
    waits.within_error_ns += std::min(error_ns, late.end_ns - late.begin_ns);
  }
}

void Latecomers::note(const RankInput& rank, std::uint32_t site, const Arrivals& arrivals,
                      std::uint32_t function, std::int32_t root, std::uint64_t came_ns) {
  const bool waits_for_root = arrivals.root_ns != 0 && flows_from_root(rank.trace.strings.at(function));
  const std::int32_t awaited = waits_for_root ? root : arrivals.last_rank;
  if (arrivals.one_clock && arrivals.seen > 1 && awaited == rank.trace.header.world_rank) {
    const std::uint64_t error_ns = waits_for_root
                                       ? index_.clocks().error_ns(arrivals.first_host, arrivals.clock)
                                       : error_of_last_ns(arrivals, index_.clocks());
    note(rank, site, {arrivals.first_ns, came_ns}, error_ns);
  }
}

void Latecomers::add(const CallInput& input) {
  const RankInput& rank = input.rank;
  const trace::MpiCall& call = input.call;
  if (const std::optional<Arrivals>& arrivals = rank.window.finder->arrivals(); arrivals && call.waits != 0) {
    note(rank, input.site, *arrivals, call.function, call.peer, call.begin_ns);
  }
  for (const std::uint32_t each : rank.window.finder->operations_of(input.number)) {
    const trace::CollectiveOperation& operation = rank.trace.operations[each].record;
    if (const std::optional<Arrivals> arrivals = index_.arrivals_at(rank.trace, operation)) {
      note(rank, sites_.id_of(rank.trace, operation.call_site, operation.function), *arrivals,
           operation.function, operation.root, operation.post_ns);
    }
  }
}

void Latecomers::add(const HalfInput& input) {
  const RankTrace& trace = input.rank.trace;
  const JoinedHalf& joined = input.joined;
  const trace::MessageHalf& record = input.half.record;
  const ClockAlignment& clocks = index_.clocks();
  if (!input.rank.is_counted || joined.partner == nullptr || joined.partner_rank == trace.header.world_rank ||
      !clocks.can_convert(joined.partner_host, joined.host)) {
    return;
  }
  // a partner that completed before had not waited: its message was buffered
  const std::uint64_t waits_from_ns =
      clocks.convert(joined.partner->noticed_ns, joined.partner_host, joined.host);
  if (waits_from_ns < record.post_ns &&
      clocks.convert(joined.partner->complete_ns, joined.partner_host, joined.host) >= record.post_ns) {
    const std::uint32_t call = input.calls.call_at(input.half.lane, record.post_ns);
    const std::uint32_t site =
        call == RankTrace::no_call
            ? sites_.id_of(trace, record.call_site, trace::no_string)
            : sites_.id_of(trace, trace.calls[call].record.call_site, trace.calls[call].record.function);
    note(input.rank, site, {waits_from_ns, record.post_ns},
         clocks.error_ns(joined.partner_host, joined.host));
  }
}

/// A call that others wait for need not be one that communicates: MPI_Win_post is not.
void Latecomers::note_at_windows(const RankInput& rank) {
  for (const AwaitedRelease& each : index_.awaited_releases(rank.trace)) {
    note(rank, sites_.id_of(rank.trace, each.call_site, each.function),
         {each.waits_from_ns, each.release.begin_ns},
         index_.clocks().error_ns(each.waiting_host, index_.host_of(rank.trace)));
  }
}

void Latecomers::add(const RankInput& rank) {
  if (rank.is_counted) {
    note_at_windows(rank);
  }
  if (!waits_.empty()) {
    const Meanwhile meanwhile(rank, mark_);
    for (auto& [site, waits] : waits_) {
      late_[{rank.trace.header.world_rank, site}] = sum_up(rank, meanwhile, std::move(waits));
    }
  }
  waits_.clear();
}

Latecomers::Late Latecomers::sum_up(const RankInput& rank, const Meanwhile& meanwhile, Waits waits) const {
  const Timeline& timeline = rank.window.timeline;
  const IntervalSet all = IntervalSet::union_of(std::move(waits.times));
  const std::vector<std::uint64_t>& bounds = rank.window.step_bounds;
  Late late;
  late.late_ns = all.measure_ns();
  late.within_error_ns = std::min(waits.within_error_ns, late.late_ns);
  late.in_kernels_ns = common_ns(all, timeline.kernels);
  late.in_mpi_ns = common_ns(all, timeline.exposed);
  late.in_copies_ns = common_ns(all, meanwhile.bare_copies);
  late.in_launches_ns = common_ns(all, meanwhile.launches);
  for (const Interval each : all.intervals()) {
    ++late.times;
    late.longest_ns = std::max(late.longest_ns, each.end_ns - each.begin_ns);
    late.kernels.add(timeline, rank.names, each);
  }
  for (const Interval each : all.intervals()) {
    if ((each.end_ns - each.begin_ns) * 2 < late.longest_ns) {
      continue;
    }
    ++late.long_times;
    late.long_ns += each.end_ns - each.begin_ns;
    const auto behind = std::upper_bound(bounds.begin(), bounds.end(), each.begin_ns);
    if (behind != bounds.begin() && late.long_steps.size() < most_steps) {
      const auto step = static_cast<std::uint64_t>(behind - bounds.begin()) - 1;
      if (late.long_steps.empty() || late.long_steps.back() != step) {
        late.long_steps.push_back(step);
      }
    }
  }
  SumTable<HostPlace, HashPlace> places;
  meanwhile.places.for_each(subtract(all, meanwhile.not_host_code),
                            [&](const HostPlace& place, std::uint64_t time_ns) { places[place] += time_ns; });
  for (const auto& [place, time_ns] : places.entries()) {
    late.host_code[place] += time_ns;
  }
  return late;
}

void Latecomers::finish(Report& report, SiteNames& names) {
  for (auto& [who, late] : late_) {
    LatecomerFigures figures{.rank = who.rank,
                             .mpi_function = names.function_of(who.site),
                             .at = names.place_of(who.site),
                             .times = late.times,
                             .late_ns = late.late_ns,
                             .in_kernels_ns = late.in_kernels_ns,
                             .in_mpi_ns = late.in_mpi_ns,
                             .in_copies_ns = late.in_copies_ns,
                             .in_launches_ns = late.in_launches_ns,
                             .longest_ns = late.longest_ns,
                             .long_times = late.long_times,
                             .long_ns = late.long_ns,
                             .long_steps = late.long_steps,
                             .main_kernel = late.kernels.longest(strings_),
                             .within_error_ns = late.within_error_ns};
    std::uint64_t most_ns = 0;
    for (const auto& [place, time_ns] : late.host_code) {
      figures.in_host_code_ns += time_ns;
      if (time_ns > most_ns) {
        most_ns = time_ns;
        figures.host_code = where_text(named(place, strings_, names));
      }
    }
    report.latecomers.push_back(std::move(figures));
  }
  std::sort(report.latecomers.begin(), report.latecomers.end(),
            [](const LatecomerFigures& left, const LatecomerFigures& right) {
              return std::tie(right.late_ns, left.rank, left.mpi_function, left.at) <
                     std::tie(left.late_ns, right.rank, right.mpi_function, right.at);
            });
}

}  // namespace penstock::analysis
