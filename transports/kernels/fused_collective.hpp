// What the host hands to the kernels that exchange vectors with other GPUs and combine them at once, or
// blocks and put them in their places. For host code, nvcc and the simulated GPU alike. Knows no MPI.
#pragma once

#include <cstdint>

#include "transports/kernels/reduction.hpp"

namespace penstock::transports::kernels {

/// A vector travels in lines of so many of its bytes, which is a multiple of every element's, each as words
/// of four bytes and a stamp (as in NCCL's protocol LL): whoever finds the stamp has the data, so nothing
/// else needs to be said or fenced, and one way over NVLink is all that it takes.
inline constexpr std::uint32_t fused_line_bytes = 16;
inline constexpr std::uint32_t fused_line_words = fused_line_bytes / 4;

/// Behind a line that says how many bytes this rank sends there. That one goes where the other does not know,
/// or gets nothing else.
inline constexpr std::uint32_t fused_header_lines = 1;

/// A rank with which this one exchanges something; it is one itself.
struct FusedPeer {
  /// Bytes, below 4 GiB; two of 32 bits would look like an address to the simulated GPU.
  std::uint64_t sent;
  std::uint64_t received;  ///< of vectors as much from all
  /// Where this rank's lines go in that one's memory; in its own too, as they are wanted again by a launch
  /// that only waits.
  std::uint64_t* outgoing;
  const std::uint64_t* incoming;  ///< where that one's come to lie in its own
};

/// Parameters of `penstock_fused_<type>`. Each rank launches one, and each writes its vector into the others'
/// memory, waits for theirs in its own, and combines those of the first `combined` ranks in their order. `to`
/// may be `own`. However many are combined, all are waited for, as slots are used again (fused_sets).
/// Of `penstock_fused_blocks`: what comes from each rank goes to a place of its own in `to`, one behind the
/// other; this rank's is there already if that is where `own` lies, else they do not overlap.
struct FusedCollective {
  void* to;
  const void* own;
  std::uint32_t ranks;
  std::uint32_t combined;  ///< of vectors; 0: nothing goes to `to`
  std::uint32_t stamp;     ///< no word there has had it before
  ReductionOperation operation;
  bool sends;        ///< false: an earlier launch with this stamp did, and ended without all
  bool is_for_each;  ///< what is sent lies one behind the other, in the order of ranks; else all get the same
  /// Ranks know no sizes but their own: somebody who sends more or less than is expected ends the collective.
  bool is_checked;
  std::uint64_t limit_ns;  ///< after which it ends, whatever has not come
  std::uint32_t* flag;     ///< host memory as the device sees it: becomes a FusedOutcome at the end
  std::uint32_t slot;      ///< whose counters to use
  FusedPeer peers[most_sources];
};

/// Those that the kernel that stands by knows, too.
#define PENSTOCK_STANDBY_TYPES(row)                                                                       \
  row(int32, std::int32_t) row(uint32, std::uint32_t) row(int64, std::int64_t) row(uint64, std::uint64_t) \
      row(float32, float) row(float64, double)
enum class StandbyType : std::uint32_t {
#define PENSTOCK_ROW(name, Type) name,
  PENSTOCK_STANDBY_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
      blocks,  ///< of bytes, which are not combined
};

/// Collectives take the sets of slots by turns: a process begins the next one but one only when it has all of
/// the next, and whoever has sent that has read all of this one.
inline constexpr std::uint32_t fused_sets = 2;

/// What of those parameters stays the same for all collectives through one memory: for the host, and in
/// device memory for the kernel that stands by. Addresses are as the host knows them.
struct FusedRoute {
  std::uint64_t outgoing[most_sources];  ///< of the first set
  std::uint64_t incoming[most_sources];
  std::uint64_t set_bytes;  ///< from one set to the next
  std::uint32_t ranks;
};

/// Not complete, or of sizes that do not fit together: what has come is in `to`, the rest is as it was.
enum FusedOutcome : std::uint32_t { fused_complete = 1, fused_incomplete = 2, fused_mismatched = 3 };

}  // namespace penstock::transports::kernels
