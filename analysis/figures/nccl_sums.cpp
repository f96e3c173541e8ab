#include "analysis/figures/nccl_sums.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analysis/tables/median.hpp"

namespace penstock::analysis {
namespace {

/// Returns the bytes that must pass a GPU's link in one direction for a call of `bytes`, at the least: what
/// nccl-tests call the bus bandwidth goes by these, so that it can be compared with the link's.
double link_bytes(NcclKind kind, double bytes, std::int32_t ranks, bool is_root) {
  const auto others = static_cast<double>(ranks - 1);
  switch (kind) {
    case NcclKind::all_reduce:
      return 2 * bytes * others / static_cast<double>(ranks);
    case NcclKind::all_gather:
    case NcclKind::reduce_scatter:
    case NcclKind::alltoall:
      return bytes * others;
    case NcclKind::gather:
    case NcclKind::scatter:
      return is_root ? bytes * others : bytes;
    default:
      return bytes;
  }
}

bool flows_from_root(NcclKind kind) {
  return kind == NcclKind::broadcast || kind == NcclKind::scatter;
}

}  // namespace

struct NcclSums::Meeting {
  bool is_known = false;       ///< of all calls
  std::uint64_t begin_ns = 0;  ///< when those that the kernel waited for had begun; 0: it did not wait
  std::uint64_t error_ns = 0;  ///< how far that may be off
  double link_bytes = 0;       ///< 0: not known
  std::uint64_t first_ns = ~std::uint64_t{0};  ///< begin of the first kernel that waited for this one
  std::uint64_t first_error_ns = 0;
};

void NcclSums::add(const RankInput& rank) {
  const RankTrace& trace = rank.trace;
  const bool has_kernels = !rank.window.timeline.nccl.intervals().empty();
  if (!rank.is_counted || (trace.nccl_calls.empty() && !has_kernels)) {
    return;
  }
  ranks_without_calls_ += trace.nccl_calls.empty() ? 1 : 0;
  const NcclWork work = nccl_work_of(trace);
  for (const NcclKernelFacts& each : work.kernels) {
    add_kernel(rank, work, each);
  }
  const Interval window = rank.window.window;
  for (const NcclCallFacts& each : work.without_kernel) {
    const std::uint64_t begin_ns = trace.nccl_calls[each.call].begin_ns;
    if (begin_ns >= window.begin_ns && begin_ns < window.end_ns) {
      add_calls(rank, {&each, 1});
    }
  }
}

void NcclSums::add_calls(const RankInput& rank, std::span<const NcclCallFacts> calls) {
  for (const NcclCallFacts& each : calls) {
    const trace::NcclCall& call = rank.trace.nccl_calls[each.call];
    Sums& sums = sums_[{each.kind}];
    ++sums.calls;
    sums.calls_without_bytes += call.knows_bytes != 0 ? 0 : 1;
    sums.bytes += call.knows_bytes != 0 ? call.bytes : 0;
  }
}

void NcclSums::add_kernel(const RankInput& rank, const NcclWork& work, const NcclKernelFacts& facts) {
  const trace::DeviceActivity& kernel = rank.trace.kernels[facts.kernel];
  const Interval window = rank.window.window;
  const std::uint64_t begin_ns = std::max(kernel.begin_ns, window.begin_ns);
  const std::uint64_t end_ns = std::min(kernel.end_ns, window.end_ns);
  if (begin_ns >= end_ns) {
    return;
  }
  const IntervalSet& computing = rank.window.timeline.kernels;
  const auto exposed_until = [&](std::uint64_t until_ns) {
    return until_ns - begin_ns - computing.measure_within_ns(begin_ns, until_ns);
  };
  Sums& sums = sums_[{facts.kind}];
  sums.kernel_ns += end_ns - begin_ns;
  sums.exposed_ns += exposed_until(end_ns);
  const std::span<const NcclCallFacts> calls = work.calls_of(facts);
  const Meeting meeting = meeting_of(rank, kernel, calls);
  if (const std::uint64_t until_ns = std::min(meeting.begin_ns, end_ns); until_ns > begin_ns) {
    sums.waiting_ns += until_ns - begin_ns;
    sums.exposed_waiting_ns += exposed_until(until_ns);
    sums.waiting_within_error_ns += std::min(until_ns - begin_ns, meeting.error_ns);
  }
  if (begin_ns != kernel.begin_ns) {
    return;  // the rest is of what began before the part that is counted
  }
  ++sums.kernels;
  add_calls(rank, calls);
  if (!meeting.is_known) {
    return;
  }
  ++sums.joined_kernels;
  const std::uint64_t moves_from_ns = std::max(kernel.begin_ns, meeting.begin_ns);
  if (meeting.link_bytes > 0 && moves_from_ns < kernel.end_ns) {
    sums.speeds_gbps.push_back(
        static_cast<float>(meeting.link_bytes / static_cast<double>(kernel.end_ns - moves_from_ns)));
  }
  add_late(rank, facts.kind, meeting, kernel.begin_ns);
}

/// A kernel that ended before another rank's had begun did not wait for it: what it sent was buffered.
NcclSums::Meeting NcclSums::meeting_of(const RankInput& rank, const trace::DeviceActivity& kernel,
                                       std::span<const NcclCallFacts> calls) const {
  Meeting meeting;
  const ClockAlignment& clocks = index_.clocks();
  bool knows_bytes = true;
  double sent_bytes = 0;
  double received_bytes = 0;
  for (const NcclCallFacts& call : calls) {
    const trace::NcclCall& record = rank.trace.nccl_calls[call.call];
    knows_bytes = knows_bytes && record.knows_bytes != 0;
    if (call.expected == 1) {
      continue;  // it needs no other rank
    }
    const std::optional<Arrivals> arrivals = index_.arrivals_at(rank.trace, call);
    if (!arrivals || !arrivals->one_clock) {
      return {};
    }
    const bool waits_for_root = arrivals->root_ns != 0 && flows_from_root(call.kind);
    const std::uint64_t awaited_ns = waits_for_root ? arrivals->root_ns : arrivals->last_ns;
    if (awaited_ns < kernel.end_ns && awaited_ns > meeting.begin_ns) {
      meeting.begin_ns = awaited_ns;
      meeting.error_ns = waits_for_root ? clocks.error_ns(arrivals->root_host, arrivals->clock)
                                        : error_of_last_ns(*arrivals, clocks);
    }
    const bool is_awaited =
        waits_for_root ? call.is_root : arrivals->last_rank == rank.trace.header.world_rank;
    if (is_awaited && arrivals->first_left_ns > kernel.begin_ns && arrivals->first_ns < meeting.first_ns) {
      meeting.first_ns = arrivals->first_ns;
      meeting.first_error_ns = clocks.error_ns(arrivals->first_host, arrivals->clock);
    }
    const auto bytes = static_cast<double>(record.bytes);
    if (call.kind == NcclKind::send_receive) {
      (call.sends ? sent_bytes : received_bytes) += bytes;
    } else {
      meeting.link_bytes += link_bytes(call.kind, bytes, arrivals->seen, call.is_root);
    }
  }
  meeting.is_known = !calls.empty();
  meeting.link_bytes = knows_bytes ? meeting.link_bytes + std::max(sent_bytes, received_bytes) : 0;
  return meeting;
}

void NcclSums::add_late(const RankInput& rank, NcclKind kind, const Meeting& meeting, std::uint64_t came_ns) {
  const std::uint64_t first_ns = std::max(meeting.first_ns, rank.window.window.begin_ns);
  if (first_ns >= came_ns) {
    return;
  }
  late_[{rank.trace.header.world_rank, kind}].add(rank.window.timeline, rank.names, {first_ns, came_ns},
                                                  std::min(came_ns - first_ns, meeting.first_error_ns));
}

void NcclSums::finish(Report& report, SiteNames&) {
  if (sums_.begin() == sums_.end() && ranks_without_calls_ == 0) {
    return;
  }
  NcclFigures& nccl = report.nccl.emplace();
  nccl.ranks_without_calls = ranks_without_calls_;
  for (auto& [key, sums] : sums_) {
    nccl.kinds.push_back({std::string(name_of(key.kind)), sums.calls, sums.calls_without_bytes, sums.bytes,
                          sums.kernels, sums.joined_kernels, sums.kernel_ns, sums.exposed_ns, sums.waiting_ns,
                          sums.exposed_waiting_ns, sums.waiting_within_error_ns,
                          median_of(sums.speeds_gbps)});
  }
  std::sort(nccl.kinds.begin(), nccl.kinds.end(),
            [](const NcclKindFigures& left, const NcclKindFigures& right) {
              return std::tie(right.exposed_ns, right.kernel_ns, left.kind) <
                     std::tie(left.exposed_ns, left.kernel_ns, right.kind);
            });
  for (const auto& [who, late] : late_) {
    nccl.late.push_back({who.rank, std::string(name_of(who.kind)), late.times, late.late_ns,
                         late.in_kernels_ns, late.in_mpi_ns, late.kernels.longest(strings_),
                         late.within_error_ns});
  }
  std::sort(
      nccl.late.begin(), nccl.late.end(), [](const NcclLateFigures& left, const NcclLateFigures& right) {
        return std::tie(right.late_ns, left.rank, left.kind) < std::tie(left.late_ns, right.rank, right.kind);
      });
}

}  // namespace penstock::analysis
