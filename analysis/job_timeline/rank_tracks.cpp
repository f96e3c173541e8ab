#include "analysis/job_timeline/rank_tracks.hpp"

#include <algorithm>

namespace penstock::analysis::job_timeline {

std::string_view identifier_of(State state) noexcept {
  switch (state) {
    case State::hidden:
      return "hidden";
    case State::waiting_call:
      return "waiting_call";
    case State::other_call:
      return "other_call";
    case State::range:
      return "range";
    case State::kernel:
      return "kernel";
    case State::copy:
      return "copy";
    case State::others_kernel:
      return "others_kernel";
    case State::operation:
      return "operation";
    case State::transfer:
      return "transfer";
    case State::synchronisation:
      return "synchronisation";
  }
  return analysis::identifier_of(static_cast<Cause>(state));
}

State state_of(const RankTrace& rank, const exports::Slice& slice) {
  switch (slice.source) {
    case exports::Source::call:
      return rank.calls[slice.index].record.waits != 0 ? State::waiting_call : State::other_call;
    case exports::Source::range:
      return State::range;
    case exports::Source::half:
    case exports::Source::operation:
      return State::operation;
    case exports::Source::transfer:
      return State::transfer;
    case exports::Source::kernel:
      return rank.kernels[slice.index].own != 0 ? State::others_kernel : State::kernel;
    case exports::Source::copy:
      return State::copy;
    case exports::Source::synchronisation:
      break;
  }
  return State::synchronisation;
}

std::vector<Wait> waits_of(const RankTrace& rank, const Timeline& timeline, std::size_t position,
                           const MessageIndex& index, const HostAxis& axis) {
  std::vector<Wait> waits;
  CauseFinder finder(rank, position, index);
  for (const HostSegment& segment : timeline.host_segments) {
    for (const CauseSpan& span : finder.explain(segment.call)) {
      const std::uint64_t begin_ns = std::max(span.begin_ns, segment.begin_ns);
      const std::uint64_t end_ns = std::min(span.end_ns, segment.end_ns);
      if (begin_ns < end_ns) {
        const std::uint64_t exposed_ns =
            end_ns - begin_ns - timeline.kernels.measure_within_ns(begin_ns, end_ns);
        waits.push_back({axis.at(begin_ns), axis.at(end_ns), exposed_ns, span.counterpart.rank, span.cause});
      }
    }
  }
  const auto earlier = [](const Wait& left, const Wait& right) { return left.begin_ns < right.begin_ns; };
  if (!std::is_sorted(waits.begin(), waits.end(), earlier)) {
    std::stable_sort(waits.begin(), waits.end(), earlier);
  }
  return waits;
}

RankTracks tracks_of(const RankTrace& rank, std::size_t position, const MessageIndex& index,
                     const HostAxis& axis) {
  RankTracks tracks{exports::lay_out(rank), waits_of(rank, make_timeline(rank), position, index, axis)};
  for (exports::Track& track : tracks.tracks) {
    for (exports::Slice& slice : track.slices) {
      slice.begin_ns = axis.at(slice.begin_ns);
      slice.end_ns = axis.at(slice.end_ns);
    }
    for (exports::MessageEnd& end : track.ends) {
      end.at_ns = axis.at(end.at_ns);
    }
  }
  return tracks;
}

}  // namespace penstock::analysis::job_timeline
