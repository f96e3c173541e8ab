#include "analysis/figures/collective_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "analysis/tables/median.hpp"

namespace penstock::analysis {

void CollectiveSums::add(const CallInput& input) {
  const trace::MpiCall& call = input.call;
  if (const std::optional<Arrivals>& arrivals = input.rank.window.finder->arrivals();
      arrivals && call.waits != 0) {
    add(input.rank, {call.function, call.bytes, call.begin_ns, call.peer, input.site, 0}, input.spans,
        *arrivals);
  }
  add_operations(input);
}

/// Adds the non-blocking collectives that a call completes. The call waited for the one whose last rank
/// arrived last. If messages complete in the call, too, only spans known to belong to the collective count.
void CollectiveSums::add_operations(const CallInput& input) {
  const RankTrace& rank = input.rank.trace;
  const CauseFinder& finder = *input.rank.window.finder;
  const std::span<const std::uint32_t> operations = finder.operations_of(input.number);
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
  for (const CauseSpan& span : input.spans) {
    if (!finder.completes_messages(input.number) || span.cause == Cause::collective_wait) {
      of_collective.push_back(span);
    }
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (arrivals[i]) {
      const trace::CollectiveOperation& operation = rank.operations[operations[i]].record;
      const Part part{operation.function,
                      operation.bytes,
                      operation.post_ns,
                      operation.root,
                      sites_.id_of(rank, operation.call_site, operation.function),
                      std::max(operation.post_ns, arrivals[i]->last_ns)};
      add(input.rank, part,
          i == last ? std::span<const CauseSpan>(of_collective) : std::span<const CauseSpan>{}, *arrivals[i]);
    }
  }
}

void CollectiveSums::add(const RankInput& rank, const Part& part, std::span<const CauseSpan> spans,
                         const Arrivals& arrivals) {
  std::uint32_t message_class = MessageClasses::no_message;
  std::uint64_t waiting_ns = 0;
  std::uint64_t moving_ns = 0;
  std::uint64_t within_error_ns = 0;
  for (const CauseSpan& span : spans) {
    message_class = std::max(message_class, span.counterpart.message_class);
    const bool waits = span.cause == Cause::collective_wait;
    (waits ? waiting_ns : moving_ns) += span.end_ns - span.begin_ns;
    within_error_ns += waits ? span.within_error_ns : 0;
  }
  Sums& sums = sums_[{rank.names.id_of(part.function), message_class, size_limit_of(part.bytes)}];
  ++sums.calls;
  sums.bytes += part.bytes;
  sums.waiting_ns += waiting_ns;
  sums.moving_ns += moving_ns;
  sums.waiting_within_error_ns += within_error_ns;
  // If nothing was left to move in the call that completed it, the time it took is unknown.
  if (part.bytes != 0 && moving_ns != 0) {
    const std::uint64_t end_ns = spans.back().end_ns;
    const std::uint64_t carried_ns = part.carried_from_ns == 0 || part.carried_from_ns >= end_ns
                                         ? moving_ns
                                         : end_ns - part.carried_from_ns;
    sums.speeds_gbps.push_back(
        static_cast<float>(static_cast<double>(part.bytes) / static_cast<double>(carried_ns)));
  }
  add_late(rank, part, arrivals);
}

/// Adds what the rank did between the first rank's arrival and its own, if the others waited for it: as the
/// root if data flow from it, else as the last rank.
void CollectiveSums::add_late(const RankInput& input, const Part& part, const Arrivals& arrivals) {
  const RankTrace& rank = input.trace;
  const bool waits_for_root = arrivals.root_ns != 0 && flows_from_root(rank.strings.at(part.function));
  const std::int32_t awaited = waits_for_root ? part.root : arrivals.last_rank;
  const bool is_late = arrivals.one_clock && arrivals.seen > 1 && awaited == rank.header.world_rank;
  const std::uint64_t begin_ns = std::max(arrivals.first_ns, rank.begin_ns);
  if (!is_late || begin_ns >= part.came_ns) {
    return;
  }
  late_[{rank.header.world_rank, part.site}].add(
      input.window.timeline, input.names, {begin_ns, part.came_ns},
      late_within_error_ns(arrivals, waits_for_root, part.came_ns - begin_ns));
}

/// Returns how much of `late_ns` lies within the error: that of the first rank's clock, or all of it if a
/// rank of another host may have arrived later and this one was not waited for at all.
std::uint64_t CollectiveSums::late_within_error_ns(const Arrivals& arrivals, bool waits_for_root,
                                                   std::uint64_t late_ns) const {
  const ClockAlignment& clocks = index_.clocks();
  const std::uint64_t runner_up_ns =
      arrivals.runner_up_ns == 0 ? 0 : arrivals.runner_up_ns + clocks.widest_error_ns();
  return !waits_for_root && runner_up_ns > arrivals.last_ns
             ? late_ns
             : std::min(late_ns, clocks.error_ns(arrivals.first_host, arrivals.clock));
}

void CollectiveSums::finish(Report& report, SiteNames& names) {
  finish_collectives(report);
  finish_late_ranks(report, names);
}

void CollectiveSums::finish_collectives(Report& report) {
  std::vector<CollectiveFigures>& figures = report.collectives;
  for (auto& [kind, sums] : sums_) {
    const MessageClass& which = index_.classes().all()[kind.message_class];
    figures.push_back({strings_.at(kind.function), kind.size_limit_bytes, which.transport,
                       std::string(index_.classes().reason_of(kind.message_class)), sums.calls, sums.bytes,
                       sums.waiting_ns, sums.moving_ns, median_of(sums.speeds_gbps),
                       sums.waiting_within_error_ns});
  }
  const auto key = [](const CollectiveFigures& each) {
    return std::tie(each.mpi_function, each.size_limit_bytes, each.transport, each.reason);
  };
  std::sort(figures.begin(), figures.end(),
            [&](const CollectiveFigures& left, const CollectiveFigures& right) {
              const std::uint64_t left_ns = left.waiting_ns + left.moving_ns;
              const std::uint64_t right_ns = right.waiting_ns + right.moving_ns;
              return left_ns != right_ns ? left_ns > right_ns : key(left) < key(right);
            });
}

void CollectiveSums::finish_late_ranks(Report& report, SiteNames& names) const {
  std::vector<LateRankFigures>& figures = report.late_ranks;
  for (const auto& [who, late] : late_) {
    figures.push_back({who.rank, names.function_of(who.site), names.place_of(who.site), late.times,
                       late.late_ns, late.in_kernels_ns, late.in_mpi_ns, late.kernels.longest(strings_),
                       late.within_error_ns});
  }
  std::sort(figures.begin(), figures.end(), [](const LateRankFigures& left, const LateRankFigures& right) {
    return std::tie(right.late_ns, left.rank, left.mpi_function, left.at) <
           std::tie(left.late_ns, right.rank, right.mpi_function, right.at);
  });
}

}  // namespace penstock::analysis
