// Describes what each thread of a rank did when, as the sets of time that the rank's own timeline has, where
// several threads communicate. Must not know other ranks, causes or figures.
//
//   H  the thread in communicating MPI calls        R  non-blocking operations that it completed, in flight
//   K  the application's kernels on the thread's GPUs: those on which it launched a kernel itself. Kernels of
//      which the launching thread is not known count for each thread; for a thread that launched none, and
//      waits on behalf of others, all count.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// All sets lie within the window that was asked for. Unit: ns.
struct ThreadTimeline {
  std::uint32_t lane = 0;
  std::uint32_t number = 0;  ///< in the order in which the rank's threads began to communicate; from 0 on
  std::string name;          ///< empty: it has none of its own
  std::vector<std::uint8_t> gpus;  ///< on which it launched kernels; empty: those of all GPUs are its K
  std::shared_ptr<const IntervalSet> kernels;  ///< K; threads may share it
  IntervalSet host;                            ///< H
  IntervalSet communication;                   ///< C = H ∪ R
  IntervalSet exposed;                         ///< H \ K
  std::uint64_t in_flight_ns = 0;              ///< |R|
};

/// Returns the threads that communicate within the window, by number; none if there are fewer than two.
[[nodiscard]] std::vector<ThreadTimeline> thread_timelines(const RankTrace& rank, Interval window);

}  // namespace penstock::analysis
