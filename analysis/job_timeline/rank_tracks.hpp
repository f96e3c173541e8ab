// One rank's tracks on the job's axis, as slices that can be counted and chosen before anything is named: the
// result of lay_out(), and a track of the rank's waits with their causes. Must not know the document.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/causes/timeline.hpp"
#include "analysis/export/common/tracks.hpp"
#include "analysis/joining/job_axis.hpp"
#include "analysis/joining/messages.hpp"

namespace penstock::analysis::job_timeline {

/// The activity of the rank, or its GPU, in a piece; it determines the colour. Causes are first, by number.
enum class State : std::uint8_t {
  hidden = cause_count,  ///< a wait completely hidden behind kernels
  waiting_call,          ///< an MPI call that may wait
  other_call,
  range,
  kernel,
  copy,
  others_kernel,  ///< of Penstock or NCCL
  operation,
  transfer,
  synchronisation,
};
inline constexpr std::size_t state_count = static_cast<std::size_t>(State::synchronisation) + 1;
[[nodiscard]] std::string_view identifier_of(State state) noexcept;

/// A piece of the track of waits: part of an MPI call, and its cause.
struct Wait {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t exposed_ns;
  std::int32_t counterpart;
  Cause cause;
};

struct RankTracks {
  std::vector<exports::Track> tracks;  ///< times of slices and ends are on the axis
  std::vector<Wait> waits;
};

/// Memory: 24 bytes a record, 40 a wait.
[[nodiscard]] RankTracks tracks_of(const RankTrace& rank, std::size_t position, const MessageIndex& index,
                                   const HostAxis& axis);
/// Returns the waits alone.
[[nodiscard]] std::vector<Wait> waits_of(const RankTrace& rank, const Timeline& timeline,
                                         std::size_t position, const MessageIndex& index,
                                         const HostAxis& axis);

[[nodiscard]] State state_of(const RankTrace& rank, const exports::Slice& slice);
[[nodiscard]] inline State state_of(const Wait& wait) noexcept {
  return wait.exposed_ns == 0 ? State::hidden : static_cast<State>(wait.cause);
}

}  // namespace penstock::analysis::job_timeline
