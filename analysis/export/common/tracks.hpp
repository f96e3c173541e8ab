// Lays out one rank's recording as timelines, in an order in which whatever begins on a track also ends on
// it, inner before outer. Overlapping slices of one kind go to neighbouring tracks. Must not know output
// formats or other ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis::exports {

enum class TrackKind : std::uint8_t {
  thread,           ///< MPI calls of a lane, within the NVTX ranges of its thread, with the messages' ends
  ranges,           ///< NVTX ranges that do not nest
  operations,       ///< non-blocking operations in flight
  transfers,        ///< by Penstock
  synchronisation,  ///< calls that wait for the GPU
  stream,           ///< of a GPU
};

/// The kind of a slice; its index is into RankTrace's list of that kind.
enum class Source : std::uint8_t { call, range, half, operation, transfer, kernel, copy, synchronisation };

struct Slice {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint32_t index;
  Source source;
};

/// One end of a message, on the thread that posted or completed it.
struct MessageEnd {
  std::uint64_t at_ns;
  std::uint32_t half;
  bool is_post;  ///< false: its completion
};

struct Track {
  TrackKind kind;
  std::string name;
  std::uint32_t beside = 0;        ///< which of several tracks of this name, from 0
  std::uint32_t device = 0;        ///< of a stream
  std::vector<Slice> slices;       ///< by begin; outer before inner
  std::vector<MessageEnd> ends{};  ///< of threads; by time
};

/// Unit: ns of the rank's clock. Memory: 24 bytes a slice.
[[nodiscard]] std::vector<Track> lay_out(const RankTrace& rank);

/// Calls `visitor.begin(slice)`, `visitor.end(slice)` and `visitor.message(end)` in time order: a message is
/// posted after its call begins and complete before its call ends.
template <typename Visitor>
void walk(const Track& track, Visitor&& visitor) {
  std::vector<const Slice*> open;
  const auto close_while = [&](auto has_ended) {
    for (; !open.empty() && has_ended(open.back()->end_ns); open.pop_back()) visitor.end(*open.back());
  };
  auto next = track.ends.begin();
  const auto meet_messages_while = [&](auto comes_first) {
    for (; next != track.ends.end() && comes_first(*next); ++next) {
      close_while([&](std::uint64_t end_ns) { return end_ns < next->at_ns; });
      visitor.message(*next);
    }
  };
  for (const Slice& slice : track.slices) {
    meet_messages_while([&](const MessageEnd& end) {
      return end.at_ns < slice.begin_ns || (end.at_ns == slice.begin_ns && !end.is_post);
    });
    close_while([&](std::uint64_t end_ns) { return end_ns <= slice.begin_ns; });
    visitor.begin(slice);
    open.push_back(&slice);
  }
  meet_messages_while([](const MessageEnd&) { return true; });
  close_while([](std::uint64_t) { return true; });
}

}  // namespace penstock::analysis::exports
