#include "analysis/timeline.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace penstock::analysis {
namespace {

/// NCCL's kernels can only be told by their names, which NCCL generates. Names are as the compiler mangled
/// them.
bool is_nccls(std::string_view name) {
  if (name.starts_with("_Z")) {
    name.remove_prefix(std::min(name.find_first_not_of("0123456789", 2), name.size()));
  }
  return name.starts_with("ncclDevKernel") || name.starts_with("ncclKernel");
}

/// Tells the application's kernels from others. Penstock's own are marked in the recording.
class KernelOwner {
 public:
  explicit KernelOwner(const Strings& strings) : strings_(strings) {}
  [[nodiscard]] bool is_the_application(const trace::DeviceActivity& kernel) {
    if (kernel.own != 0) {
      return false;
    }
    const auto [known, is_new] = is_nccls_.try_emplace(kernel.name, false);
    if (is_new) {
      known->second = is_nccls(strings_.at(kernel.name));
    }
    return !known->second;
  }

 private:
  const Strings& strings_;
  std::unordered_map<std::uint32_t, bool> is_nccls_;  ///< by name
};

Interval clipped(std::uint64_t begin_ns, std::uint64_t end_ns, const RankTrace& rank) {
  return {std::max(begin_ns, rank.begin_ns), std::min(end_ns, rank.end_ns)};
}

std::vector<HostSegment> host_segments_of(const RankTrace& rank) {
  std::vector<std::uint32_t> order;
  order.reserve(rank.calls.size());
  for (std::uint32_t i = 0; i < rank.calls.size(); ++i) {
    if (communicates(rank.calls[i].record)) {
      order.push_back(i);
    }
  }
  const auto begins_earlier = [&rank](std::uint32_t left, std::uint32_t right) {
    return rank.calls[left].record.begin_ns < rank.calls[right].record.begin_ns;
  };
  if (!std::is_sorted(order.begin(), order.end(), begins_earlier)) {
    std::stable_sort(order.begin(), order.end(), begins_earlier);
  }
  std::vector<HostSegment> segments;
  segments.reserve(order.size());
  std::uint64_t taken_until_ns = rank.begin_ns;
  for (const std::uint32_t index : order) {
    const trace::MpiCall& call = rank.calls[index].record;
    const std::uint64_t begin_ns = std::max(call.begin_ns, taken_until_ns);
    const std::uint64_t end_ns = std::min(call.end_ns, rank.end_ns);
    if (begin_ns < end_ns) {
      segments.push_back({begin_ns, end_ns, index});
      taken_until_ns = end_ns;
    }
  }
  return segments;
}

}  // namespace

bool communicates(const trace::MpiCall& call) noexcept {
  return call.waits != 0 || call.bytes != 0;
}

Timeline make_timeline(const RankTrace& rank) {
  Timeline timeline;
  std::vector<Interval> kernels;
  kernels.reserve(rank.kernels.size());
  KernelOwner owner(rank.strings);
  for (const trace::DeviceActivity& each : rank.kernels) {
    if (owner.is_the_application(each)) {
      kernels.push_back(clipped(each.begin_ns, each.end_ns, rank));
    }
  }
  timeline.kernels = IntervalSet::union_of(std::move(kernels));

  timeline.host_segments = host_segments_of(rank);
  std::vector<Interval> host;
  host.reserve(timeline.host_segments.size());
  for (const HostSegment& each : timeline.host_segments) {
    host.push_back({each.begin_ns, each.end_ns});
  }
  timeline.host = IntervalSet::union_of(std::move(host));

  std::vector<Interval> in_flight;
  for (const Half& each : rank.halves) {
    if (each.record.blocking == 0) {
      in_flight.push_back(clipped(each.record.post_ns, each.record.complete_ns, rank));
    }
  }
  timeline.in_flight = IntervalSet::union_of(std::move(in_flight));
  timeline.communication = unite(timeline.host, timeline.in_flight);
  timeline.exposed = subtract(timeline.host, timeline.kernels);
  return timeline;
}

Timeline part_of(const Timeline& timeline, Interval window) {
  const IntervalSet inside = IntervalSet::union_of({window});
  Timeline part{intersect(timeline.kernels, inside),   intersect(timeline.host, inside),
                intersect(timeline.in_flight, inside), intersect(timeline.communication, inside),
                intersect(timeline.exposed, inside),   {}};
  for (HostSegment each : timeline.host_segments) {
    each.begin_ns = std::max(each.begin_ns, window.begin_ns);
    each.end_ns = std::min(each.end_ns, window.end_ns);
    if (each.begin_ns < each.end_ns) {
      part.host_segments.push_back(each);
    }
  }
  return part;
}

}  // namespace penstock::analysis
