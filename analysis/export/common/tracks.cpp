#include "analysis/export/common/tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace penstock::analysis::exports {
namespace {

constexpr std::uint8_t start_end_range = 255;  // trace::Range::depth

Slice slice_of(const auto& record, std::size_t index, Source source) {
  return {record.begin_ns, record.end_ns, static_cast<std::uint32_t>(index), source};
}

template <typename Record>
std::vector<Slice> slices_of(const std::vector<Record>& records, Source source) {
  std::vector<Slice> slices;
  slices.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if constexpr (requires { records[i].record; }) {
      slices.push_back(slice_of(records[i].record, i, source));
    } else {
      slices.push_back(slice_of(records[i], i, source));
    }
  }
  return slices;
}

/// Sorts outer slices before inner ones; if both are equal, a range encloses a call.
bool comes_first(const Slice& left, const Slice& right) {
  if (left.begin_ns != right.begin_ns) return left.begin_ns < right.begin_ns;
  if (left.end_ns != right.end_ns) return left.end_ns > right.end_ns;
  return left.source == Source::range && right.source != Source::range;
}

void sort_slices(std::vector<Slice>& slices) {
  if (!std::is_sorted(slices.begin(), slices.end(), comes_first)) {
    std::stable_sort(slices.begin(), slices.end(), comes_first);
  }
}

/// Removes from `slices` and returns what a thread cannot contain: slices that overlap without nesting, and
/// calls within calls.
std::vector<Slice> take_crossing(std::vector<Slice>& slices) {
  std::vector<Slice> crossing;
  std::vector<Slice> nested;
  std::vector<std::uint64_t> open_until_ns;
  std::uint64_t in_call_until_ns = 0;
  nested.reserve(slices.size());
  for (const Slice& slice : slices) {
    while (!open_until_ns.empty() && open_until_ns.back() <= slice.begin_ns) open_until_ns.pop_back();
    const bool is_call = slice.source == Source::call;
    const bool fits = (open_until_ns.empty() || slice.end_ns <= open_until_ns.back()) &&
                      !(is_call && slice.begin_ns < in_call_until_ns);
    (fits ? nested : crossing).push_back(slice);
    if (!fits) continue;
    open_until_ns.push_back(slice.end_ns);
    if (is_call) in_call_until_ns = slice.end_ns;
  }
  slices = std::move(nested);
  return crossing;
}

class Layout {
 public:
  explicit Layout(const RankTrace& rank) : rank_(rank) {}

  std::vector<Track> make() {
    add_threads();
    spread(TrackKind::ranges, "NVTX start/end ranges", 0, std::move(loose_));
    spread(TrackKind::ranges, "calls and ranges that cross", 0, std::move(crossing_));
    add_operations();
    spread(TrackKind::transfers, "transfers", 0, slices_of(rank_.transfers, Source::transfer));
    spread(TrackKind::synchronisation, "CUDA synchronisation", 0,
           slices_of(rank_.synchronisations, Source::synchronisation));
    add_streams();
    return std::move(tracks_);
  }

 private:
  /// Spreads slices over as few tracks as possible, so that none overlap on a track; each takes the lowest
  /// free one.
  void spread(TrackKind kind, const std::string& name, std::uint32_t device, std::vector<Slice> slices) {
    using Busy = std::pair<std::uint64_t, std::size_t>;  // until when, which
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
    std::set<std::size_t> free;
    const std::size_t first = tracks_.size();
    sort_slices(slices);
    for (const Slice& slice : slices) {
      for (; !busy.empty() && busy.top().first <= slice.begin_ns; busy.pop()) free.insert(busy.top().second);
      if (free.empty()) {
        const auto beside = static_cast<std::uint32_t>(tracks_.size() - first);
        free.insert(tracks_.size());
        tracks_.push_back({kind, name, beside, device, {}});
      }
      const std::size_t taken = *free.begin();
      free.erase(free.begin());
      tracks_[taken].slices.push_back(slice);
      busy.emplace(slice.end_ns, taken);
    }
  }

  Track& thread(std::uint32_t lane) {
    const auto [found, is_new] = threads_.try_emplace(lane);
    if (is_new) found->second = {TrackKind::thread, "", 0, 0, {}};
    return found->second;
  }

  void add_threads() {
    for (std::size_t i = 0; i < rank_.calls.size(); ++i) {
      thread(rank_.calls[i].lane).slices.push_back(slice_of(rank_.calls[i].record, i, Source::call));
    }
    for (std::size_t i = 0; i < rank_.ranges.size(); ++i) {
      const Slice slice = slice_of(rank_.ranges[i], i, Source::range);
      const bool nests = rank_.ranges[i].depth != start_end_range;
      (nests ? thread(rank_.range_lanes[i]).slices : loose_).push_back(slice);
    }
    for (std::size_t i = 0; i < rank_.halves.size(); ++i) {
      const trace::MessageHalf& half = rank_.halves[i].record;
      for (const bool is_post : {true, false}) {
        const std::uint64_t at_ns = is_post ? half.post_ns : half.complete_ns;
        // another thread than the posting one may complete a request
        const std::uint32_t call = rank_.call_at(rank_.halves[i].lane, at_ns);
        const std::uint32_t lane = call == RankTrace::no_call ? rank_.halves[i].lane : rank_.calls[call].lane;
        thread(lane).ends.push_back({at_ns, static_cast<std::uint32_t>(i), is_post});
      }
    }
    for (auto& [lane, track] : threads_) {
      sort_slices(track.slices);
      const std::vector<Slice> crossing = take_crossing(track.slices);
      crossing_.insert(crossing_.end(), crossing.begin(), crossing.end());
      std::stable_sort(track.ends.begin(), track.ends.end(), [](const MessageEnd& a, const MessageEnd& b) {
        return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : !a.is_post && b.is_post;
      });
      track.name = fmt::format("thread {}", tracks_.size());
      tracks_.push_back(std::move(track));
    }
  }

  void add_operations() {
    std::vector<Slice> slices;
    for (std::size_t i = 0; i < rank_.halves.size(); ++i) {
      const trace::MessageHalf& half = rank_.halves[i].record;
      if (half.blocking == 0) {
        slices.push_back({half.post_ns, half.complete_ns, static_cast<std::uint32_t>(i), Source::half});
      }
    }
    for (std::size_t i = 0; i < rank_.operations.size(); ++i) {
      const trace::CollectiveOperation& operation = rank_.operations[i].record;
      slices.push_back(
          {operation.post_ns, operation.complete_ns, static_cast<std::uint32_t>(i), Source::operation});
    }
    spread(TrackKind::operations, "non-blocking operations", 0, std::move(slices));
  }

  void add_streams() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Slice>> by_stream;
    const auto sort_in = [&](const std::vector<trace::DeviceActivity>& activities, Source source) {
      for (std::size_t i = 0; i < activities.size(); ++i) {
        by_stream[{activities[i].device, activities[i].stream}].push_back(slice_of(activities[i], i, source));
      }
    };
    sort_in(rank_.kernels, Source::kernel);
    sort_in(rank_.copies, Source::copy);
    for (auto& [stream, slices] : by_stream) {
      spread(TrackKind::stream, fmt::format("GPU {} stream {}", stream.first, stream.second), stream.first,
             std::move(slices));
    }
  }

  const RankTrace& rank_;
  std::vector<Track> tracks_;
  std::map<std::uint32_t, Track> threads_;  ///< by lane
  std::vector<Slice> loose_;                ///< ranges that need not nest
  std::vector<Slice> crossing_;             ///< ranges of several domains may cross, and anything in a
                                            ///< damaged file
};

}  // namespace

std::vector<Track> lay_out(const RankTrace& rank) {
  return Layout(rank).make();
}

}  // namespace penstock::analysis::exports
