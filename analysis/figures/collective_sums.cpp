#include "analysis/figures/collective_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "analysis/recording/symbol_names.hpp"
#include "analysis/tables/median.hpp"

namespace penstock::analysis {

void CollectiveSums::add(const Caller& caller, const trace::MpiCall& call, std::uint32_t site,
                         std::span<const CauseSpan> spans, const Arrivals& arrivals) {
  add(caller, {call.function, call.bytes, call.begin_ns, call.peer}, 0, site, spans, arrivals);
}

void CollectiveSums::add(const Caller& caller, const trace::CollectiveOperation& operation,
                         std::uint32_t site, std::span<const CauseSpan> spans, const Arrivals& arrivals) {
  add(caller, {operation.function, operation.bytes, operation.post_ns, operation.root},
      std::max(operation.post_ns, arrivals.last_ns), site, spans, arrivals);
}

void CollectiveSums::add(const Caller& caller, const Part& part, std::uint64_t carried_from_ns,
                         std::uint32_t site, std::span<const CauseSpan> spans, const Arrivals& arrivals) {
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
  const std::uint32_t function = caller.names.id_of(part.function);
  Sums& sums = sums_[{function, message_class, size_limit_of(part.bytes)}];
  ++sums.calls;
  sums.bytes += part.bytes;
  sums.waiting_ns += waiting_ns;
  sums.moving_ns += moving_ns;
  sums.waiting_within_error_ns += within_error_ns;
  // If nothing was left to move in the call that completed it, the time it took is unknown.
  if (part.bytes != 0 && moving_ns != 0) {
    const std::uint64_t end_ns = spans.back().end_ns;
    const std::uint64_t carried_ns =
        carried_from_ns == 0 || carried_from_ns >= end_ns ? moving_ns : end_ns - carried_from_ns;
    sums.speeds_gbps.push_back(
        static_cast<float>(static_cast<double>(part.bytes) / static_cast<double>(carried_ns)));
  }
  function_of_site_[site] = function;
  add_late(caller, part, site, arrivals);
}

/// Adds what the rank did between the first rank's arrival and its own, if the others waited for it: as the
/// root if data flow from it, else as the last rank.
void CollectiveSums::add_late(const Caller& caller, const Part& part, std::uint32_t site,
                              const Arrivals& arrivals) {
  const auto& [rank, timeline, names] = caller;
  const bool waits_for_root = arrivals.root_ns != 0 && flows_from_root(rank.strings.at(part.function));
  const std::int32_t awaited = waits_for_root ? part.root : arrivals.last_rank;
  const bool is_late = arrivals.one_clock && arrivals.seen > 1 && awaited == rank.header.world_rank;
  const std::uint64_t begin_ns = std::max(arrivals.first_ns, rank.begin_ns);
  if (!is_late || begin_ns >= part.came_ns) {
    return;
  }
  Late& late = late_[{rank.header.world_rank, site}];
  ++late.times;
  late.late_ns += part.came_ns - begin_ns;
  late.within_error_ns += late_within_error_ns(arrivals, waits_for_root, part.came_ns - begin_ns);
  late.in_kernels_ns += timeline.kernels.measure_within_ns(begin_ns, part.came_ns);
  late.in_mpi_ns += timeline.exposed.measure_within_ns(begin_ns, part.came_ns);
  auto kernel = std::upper_bound(
      timeline.kernel_segments.begin(), timeline.kernel_segments.end(), begin_ns,
      [](std::uint64_t time_ns, const KernelSegment& each) { return time_ns < each.end_ns; });
  for (; kernel != timeline.kernel_segments.end() && kernel->begin_ns < part.came_ns; ++kernel) {
    late.by_kernel[names.id_of(kernel->name)] +=
        std::min(kernel->end_ns, part.came_ns) - std::max(kernel->begin_ns, begin_ns);
  }
}

void CollectiveSums::merge(const CollectiveSums& part, std::span<const std::uint32_t> strings,
                           std::span<const std::uint32_t> sites) {
  for (const auto& [kind, added] : part.sums_) {
    Sums& sums = sums_[{strings[kind.function], kind.message_class, kind.size_limit_bytes}];
    sums.calls += added.calls;
    sums.bytes += added.bytes;
    sums.waiting_ns += added.waiting_ns;
    sums.waiting_within_error_ns += added.waiting_within_error_ns;
    sums.moving_ns += added.moving_ns;
    sums.speeds_gbps.insert(sums.speeds_gbps.end(), added.speeds_gbps.begin(), added.speeds_gbps.end());
  }
  for (const auto& [who, added] : part.late_) {
    Late& late = late_[{who.first, sites[who.second]}];
    late.times += added.times;
    late.late_ns += added.late_ns;
    late.in_kernels_ns += added.in_kernels_ns;
    late.in_mpi_ns += added.in_mpi_ns;
    late.within_error_ns += added.within_error_ns;
    for (const auto& [kernel, time_ns] : added.by_kernel) {
      late.by_kernel[strings[kernel]] += time_ns;
    }
  }
  for (const auto& [site, function] : part.function_of_site_) {
    function_of_site_[sites[site]] = strings[function];
  }
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

std::vector<CollectiveFigures> CollectiveSums::finish() {
  std::vector<CollectiveFigures> figures;
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
  return figures;
}

std::vector<LateRankFigures> CollectiveSums::finish_late_ranks(
    const std::function<std::string(std::uint32_t)>& place_of_site) const {
  std::vector<LateRankFigures> figures;
  for (const auto& [who, late] : late_) {
    const auto [rank, site] = who;
    LateRankFigures each{rank,
                         strings_.at(function_of_site_.at(site)),
                         place_of_site(site),
                         late.times,
                         late.late_ns,
                         late.in_kernels_ns,
                         late.in_mpi_ns,
                         "",
                         late.within_error_ns};
    std::uint64_t most_ns = 0;
    for (const auto& [name, time_ns] : late.by_kernel) {
      std::string kernel = readable_symbol(strings_.at(name));
      if (time_ns > most_ns || (time_ns == most_ns && kernel < each.main_kernel)) {
        most_ns = time_ns;
        each.main_kernel = std::move(kernel);
      }
    }
    figures.push_back(std::move(each));
  }
  std::sort(figures.begin(), figures.end(), [](const LateRankFigures& left, const LateRankFigures& right) {
    return std::tie(right.late_ns, left.rank, left.mpi_function, left.at) <
           std::tie(left.late_ns, right.rank, right.mpi_function, right.at);
  });
  return figures;
}

}  // namespace penstock::analysis
