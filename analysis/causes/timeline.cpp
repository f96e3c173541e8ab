#include "analysis/causes/timeline.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/causes/kernel_owner.hpp"

namespace penstock::analysis {
namespace {

Interval clipped(std::uint64_t begin_ns, std::uint64_t end_ns, const RankTrace& rank) {
  return {std::max(begin_ns, rank.begin_ns), std::min(end_ns, rank.end_ns)};
}

template <typename Record>
void make_set_of_application(const std::vector<Record>& records, const RankTrace& rank,
                             std::vector<Interval>& scratch, IntervalSet& set) {
  scratch.clear();
  scratch.reserve(records.size());
  for (const Record& each : records) {
    if (each.own == 0) {
      scratch.push_back(clipped(each.begin_ns, each.end_ns, rank));
    }
  }
  set.assign_union_of(scratch);
}

/// Orders segments that begin together, too, so that no figure depends on the order of the records.
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
void make_set(const std::vector<Segment>& segments, std::vector<Interval>& scratch, IntervalSet& set) {
  scratch.clear();
  scratch.reserve(segments.size());
  for (const Segment& each : segments) {
    scratch.push_back({each.begin_ns, each.end_ns});
  }
  set.assign_union_of(scratch);
}

template <typename Segment>
void cut_segments(Interval window, std::vector<Segment>& segments) {
  std::size_t kept = 0;
  for (Segment each : segments) {
    each.begin_ns = std::max(each.begin_ns, window.begin_ns);
    each.end_ns = std::min(each.end_ns, window.end_ns);
    if (each.begin_ns < each.end_ns) {
      segments[kept++] = each;
    }
  }
  segments.resize(kept);
}

void add_calls(const RankTrace& rank, std::vector<HostSegment>& segments) {
  segments.clear();
  segments.reserve(rank.calls.size());
  for (std::uint32_t i = 0; i < rank.calls.size(); ++i) {
    const trace::MpiCall& call = rank.calls[i].record;
    if (communicates(call)) {
      const Interval inside = clipped(call.begin_ns, call.end_ns, rank);
      segments.push_back({inside.begin_ns, inside.end_ns, i});
    }
  }
  keep_the_earliest(segments);
}

void add_kernels(const RankTrace& rank, Timeline& timeline) {
  timeline.kernel_segments.clear();
  timeline.kernel_starts.clear();
  timeline.kernel_segments.reserve(rank.kernels.size());
  timeline.kernel_starts.reserve(rank.kernels.size());
  timeline.scratch.clear();
  KernelOwner owner(rank.strings);
  for (const trace::DeviceActivity& each : rank.kernels) {
    if (each.own != 0) {  // Penstock's
      continue;
    }
    const Interval inside = clipped(each.begin_ns, each.end_ns, rank);
    if (owner.is_nccl(each)) {
      timeline.scratch.push_back(inside);
    } else {
      timeline.kernel_segments.push_back({inside.begin_ns, inside.end_ns, each.name});
      if (inside.begin_ns < inside.end_ns) {
        timeline.kernel_starts.push_back({inside.begin_ns, each.name});
      }
    }
  }
  timeline.nccl.assign_union_of(timeline.scratch);
  keep_the_earliest(timeline.kernel_segments);
}

}  // namespace

Timeline make_timeline(const RankTrace& rank) {
  Timeline timeline;
  make_timeline(rank, timeline);
  return timeline;
}

void make_timeline(const RankTrace& rank, Timeline& timeline) {
  std::vector<Interval>& scratch = timeline.scratch;
  add_kernels(rank, timeline);
  make_set(timeline.kernel_segments, scratch, timeline.kernels);
  add_calls(rank, timeline.host_segments);
  make_set(timeline.host_segments, scratch, timeline.host);

  scratch.clear();
  for (const Half& each : rank.halves) {
    if (each.record.blocking == 0) {
      scratch.push_back(clipped(each.record.post_ns, each.record.complete_ns, rank));
    }
  }
  for (const Operation& each : rank.operations) {
    scratch.push_back(clipped(each.record.post_ns, each.record.complete_ns, rank));
  }
  timeline.in_flight.assign_union_of(scratch);
  unite(timeline.host, timeline.in_flight, timeline.communication);
  subtract(timeline.host, timeline.kernels, timeline.exposed);

  make_set_of_application(rank.copies, rank, scratch, timeline.copies);
  scratch.clear();
  for (const trace::DeviceActivity& each : rank.kernels) {
    if (each.own == 0 && each.issued_ns != 0 && each.issued_ns < each.begin_ns) {
      scratch.push_back(clipped(each.issued_ns, each.begin_ns, rank));
    }
  }
  timeline.launched.assign_union_of(scratch);
  scratch.clear();
  for (const trace::CudaSynchronisation& each : rank.synchronisations) {
    if (each.own == 0 && !rank.is_stream_wait(each)) {
      scratch.push_back(clipped(each.begin_ns, each.end_ns, rank));
    }
  }
  timeline.synchronised.assign_union_of(scratch);
  subtract(unite(timeline.host, timeline.synchronised), timeline.kernels, timeline.idle);
}

void cut_to(Interval window, Timeline& timeline) {
  for (IntervalSet* set :
       {&timeline.kernels, &timeline.nccl, &timeline.host, &timeline.in_flight, &timeline.communication,
        &timeline.exposed, &timeline.copies, &timeline.launched, &timeline.synchronised, &timeline.idle}) {
    set->cut_to(window);
  }
  cut_segments(window, timeline.host_segments);
  cut_segments(window, timeline.kernel_segments);
  std::erase_if(timeline.kernel_starts, [&](const KernelStart& each) {
    return each.time_ns < window.begin_ns || each.time_ns >= window.end_ns;
  });
}

}  // namespace penstock::analysis
