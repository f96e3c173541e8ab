// Describes what one rank did when, as sets of time (K, H, R and C): kernels of the application, the host
// inside communicating MPI calls, non-blocking operations in flight. Must know neither other ranks nor
// causes.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// A piece of H and the call that it is counted for. If calls of several threads overlap, the time belongs to
/// the one that began first, so that no second is counted twice.
struct HostSegment {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint32_t call;  ///< index in RankTrace::calls
};

/// A piece of K and the kernel that it is counted for; if kernels overlap, the one that began first.
struct KernelSegment {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint32_t name;  ///< string of the rank
};

/// The begin of a kernel of the application, whether or not another one runs.
struct KernelStart {
  std::uint64_t time_ns;
  std::uint32_t name;  ///< string of the rank
};

/// All sets lie within the rank's run, between MPI_Init and MPI_Finalize, or within a part of it. Unit: ns.
struct Timeline {
  IntervalSet kernels;        ///< K: the application's; no copies, no kernels of Penstock or NCCL
  IntervalSet nccl;           ///< NCCL's kernels
  IntervalSet host;           ///< H
  IntervalSet in_flight;      ///< R
  IntervalSet communication;  ///< C = H ∪ R
  IntervalSet exposed;        ///< H \ K
  IntervalSet copies;         ///< copies and memsets of the application
  IntervalSet
      launched;  ///< a kernel of the application has been launched and has not begun, if that is known
  IntervalSet synchronised;  ///< the application's host waits for the GPU
  IntervalSet idle;          ///< nothing is computed: in H or synchronised, and not in K
  std::vector<HostSegment> host_segments;
  std::vector<KernelSegment> kernel_segments;
  std::vector<KernelStart> kernel_starts;  ///< in no particular order
  std::vector<Interval> scratch;           ///< memory for the next timeline
};

[[nodiscard]] Timeline make_timeline(const RankTrace& rank);
/// Does the same in the memory of a timeline that is no longer needed.
void make_timeline(const RankTrace& rank, Timeline& timeline);
/// Keeps only the part within `window`.
void cut_to(Interval window, Timeline& timeline);

/// Returns true for a call that waits for other ranks, carries bytes or starts a collective. Others
/// (MPI_Comm_rank, MPI_Wtime …) are not communication.
[[nodiscard]] inline bool communicates(const trace::MpiCall& call) noexcept {
  return call.waits != 0 || call.bytes != 0 || call.collective_ordinal != 0;
}

}  // namespace penstock::analysis
