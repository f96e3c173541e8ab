// Parameters of the kernels that exchange vectors with other GPUs and combine them, or exchange blocks and
// put them in place. For host code, nvcc and the simulated GPU alike. This header knows no MPI.
#pragma once

#include <cstdint>

#include "transports/kernels/reduction.hpp"

namespace penstock::transports::kernels {

/// A vector travels in lines of that many of its bytes, a multiple of every element's size, each as words of
/// four bytes and a stamp (as in NCCL's protocol LL). A reader that finds the stamp has the data: no fence
/// and no notification is needed, only one way over NVLink.
inline constexpr std::uint32_t one_shot_line_bytes = 16;
inline constexpr std::uint32_t one_shot_line_words = one_shot_line_bytes / 4;

/// Lines before them: a header with the bytes that this rank sends there. It is sent if the other rank does
/// not know them, or gets nothing else.
inline constexpr std::uint32_t one_shot_header_lines = 1;

/// A rank with which this one exchanges data; this rank is one of its own peers.
struct OneShotPeer {
  /// Bytes, below 4 GiB; two of 32 bits would look like an address to the simulated GPU.
  std::uint64_t sent;
  std::uint64_t received;  ///< vectors: the same from all
  /// The destination of this rank's lines in that peer's memory. This rank writes to itself, too, as a launch
  /// that only waits needs the lines again.
  std::uint64_t* outgoing;
  const std::uint64_t* incoming;  ///< where the peer's lines arrive in this rank's memory
};

/// Parameters of `penstock_one_shot_<type>`. Each rank launches one kernel, which writes its vector into the
/// others' memory, waits for theirs in its own, and combines those of the first `combined` ranks in their
/// order. `to` may be `own`. However many are combined, the kernel waits for all, as slots are reused
/// (one_shot_sets). Also those of `penstock_one_shot_blocks`: the blocks from each rank go to `to`, one
/// behind the other. `to` and `own` must not overlap, except that this rank's own block may already be in
/// place.
struct OneShotCollective {
  void* to;
  const void* own;
  std::uint32_t ranks;
  std::uint32_t combined;  ///< of vectors; 0: nothing goes to `to`
  std::uint32_t stamp;     ///< no word there has had it before
  ReductionOperation operation;
  bool sends;        ///< false: an earlier launch with this stamp sent, and ended without all parts
  bool is_for_each;  ///< a block for each rank, one behind the other in the order of ranks; false: all get
                     ///< the same
  /// Ranks know only their own sizes: a rank that sends more or less than expected ends the collective.
  bool is_checked;
  std::uint64_t limit_ns;  ///< after which it ends, even if parts are missing
  std::uint32_t* flag;     ///< host memory as the device sees it: becomes a OneShotOutcome at the end
  std::uint32_t slot;      ///< whose counters to use
  OneShotPeer peers[most_sources];
};

/// The types that the resident kernel knows, too.
#define PENSTOCK_RESIDENT_TYPES(row)                                                                      \
  row(int32, std::int32_t) row(uint32, std::uint32_t) row(int64, std::int64_t) row(uint64, std::uint64_t) \
      row(float32, float) row(float64, double)
enum class ResidentType : std::uint32_t {
#define PENSTOCK_ROW(name, Type) name,
  PENSTOCK_RESIDENT_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
      blocks,  ///< of bytes, which are not combined
};

/// Collectives use the sets of slots in turn. A process begins the next collective but one only when it has
/// all parts of the next one, and a rank that has sent those has read all of this one.
inline constexpr std::uint32_t one_shot_sets = 2;

/// The parameters that are the same for all collectives through one memory: for the host, and in device
/// memory for the resident kernel. Addresses are as the host knows them.
struct OneShotRoute {
  std::uint64_t outgoing[most_sources];  ///< of the first set
  std::uint64_t incoming[most_sources];
  std::uint64_t set_bytes;  ///< from one set to the next
  std::uint32_t ranks;
};

/// If not complete, or of sizes that differ: the parts that have arrived are in `to`, the rest is unchanged.
enum OneShotOutcome : std::uint32_t {
  one_shot_complete = 1,
  one_shot_incomplete = 2,
  one_shot_mismatched = 3
};

}  // namespace penstock::transports::kernels
