#include "analysis/timeline.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
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

/// Those that begin together have an order too, so that no figure depends on that of the records.
bool begins_earlier(const KernelSegment& left, const KernelSegment& right) {
  return std::tie(left.begin_ns, left.end_ns, left.name) < std::tie(right.begin_ns, right.end_ns, right.name);
}
bool begins_earlier(const HostSegment& left, const HostSegment& right) {
  return std::tie(left.begin_ns, left.end_ns, left.call) < std::tie(right.begin_ns, right.end_ns, right.call);
}

/// Makes segments disjoint: time that several cover stays with the one that began first.
template <typename Segment>
void keep_the_earliest(std::vector<Segment>& segments) {
  const auto earlier = [](const Segment& left, const Segment& right) { return begins_earlier(left, right); };
  if (!std::is_sorted(segments.begin(), segments.end(), earlier)) {
    std::sort(segments.begin(), segments.end(), earlier);
  }
  std::uint64_t taken_until_ns = 0;
  std::size_t kept = 0;
  for (Segment each : segments) {
    each.begin_ns = std::max(each.begin_ns, taken_until_ns);
    if (each.begin_ns < each.end_ns) {
      taken_until_ns = each.end_ns;
      segments[kept++] = each;
    }
  }
  segments.resize(kept);
}

template <typename Segment>
IntervalSet set_of(const std::vector<Segment>& segments) {
  std::vector<Interval> intervals;
  intervals.reserve(segments.size());
  for (const Segment& each : segments) {
    intervals.push_back({each.begin_ns, each.end_ns});
  }
  return IntervalSet::union_of(std::move(intervals));
}

template <typename Segment>
std::vector<Segment> part_of(const std::vector<Segment>& segments, Interval window) {
  std::vector<Segment> part;
  for (Segment each : segments) {
    each.begin_ns = std::max(each.begin_ns, window.begin_ns);
    each.end_ns = std::min(each.end_ns, window.end_ns);
    if (each.begin_ns < each.end_ns) {
      part.push_back(each);
    }
  }
  return part;
}

std::vector<HostSegment> host_segments_of(const RankTrace& rank) {
  std::vector<HostSegment> segments;
  segments.reserve(rank.calls.size());
  for (std::uint32_t i = 0; i < rank.calls.size(); ++i) {
    const trace::MpiCall& call = rank.calls[i].record;
    if (communicates(call)) {
      const Interval inside = clipped(call.begin_ns, call.end_ns, rank);
      segments.push_back({inside.begin_ns, inside.end_ns, i});
    }
  }
  keep_the_earliest(segments);
  return segments;
}

void add_kernels(const RankTrace& rank, Timeline& timeline) {
  timeline.kernel_segments.reserve(rank.kernels.size());
  timeline.kernel_starts.reserve(rank.kernels.size());
  KernelOwner owner(rank.strings);
  for (const trace::DeviceActivity& each : rank.kernels) {
    if (owner.is_the_application(each)) {
      const Interval inside = clipped(each.begin_ns, each.end_ns, rank);
      timeline.kernel_segments.push_back({inside.begin_ns, inside.end_ns, each.name});
      if (inside.begin_ns < inside.end_ns) {
        timeline.kernel_starts.push_back({inside.begin_ns, each.name});
      }
    }
  }
  keep_the_earliest(timeline.kernel_segments);
}

}  // namespace

bool communicates(const trace::MpiCall& call) noexcept {
  return call.waits != 0 || call.bytes != 0 || call.collective_ordinal != 0;
}

Timeline make_timeline(const RankTrace& rank) {
  Timeline timeline;
  add_kernels(rank, timeline);
  timeline.kernels = set_of(timeline.kernel_segments);
  timeline.host_segments = host_segments_of(rank);
  timeline.host = set_of(timeline.host_segments);

  std::vector<Interval> in_flight;
  for (const Half& each : rank.halves) {
    if (each.record.blocking == 0) {
      in_flight.push_back(clipped(each.record.post_ns, each.record.complete_ns, rank));
    }
  }
  for (const Operation& each : rank.operations) {
    in_flight.push_back(clipped(each.record.post_ns, each.record.complete_ns, rank));
  }
  timeline.in_flight = IntervalSet::union_of(std::move(in_flight));
  timeline.communication = unite(timeline.host, timeline.in_flight);
  timeline.exposed = subtract(timeline.host, timeline.kernels);
  return timeline;
}

Timeline part_of(const Timeline& timeline, Interval window) {
  const IntervalSet inside = IntervalSet::union_of({window});
  std::vector<KernelStart> starts;
  std::copy_if(timeline.kernel_starts.begin(), timeline.kernel_starts.end(), std::back_inserter(starts),
               [&](const KernelStart& each) {
                 return each.time_ns >= window.begin_ns && each.time_ns < window.end_ns;
               });
  return {intersect(timeline.kernels, inside),       intersect(timeline.host, inside),
          intersect(timeline.in_flight, inside),     intersect(timeline.communication, inside),
          intersect(timeline.exposed, inside),       part_of(timeline.host_segments, window),
          part_of(timeline.kernel_segments, window), std::move(starts)};
}

}  // namespace penstock::analysis
