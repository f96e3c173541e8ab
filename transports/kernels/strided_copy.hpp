// Parameters of the kernels for layouts in pieces: everything by value, as for the batched copy. For host
// code, nvcc and the simulated GPU alike. This header knows neither streams nor completion.
#pragma once

#include <cstdint>

#include "transports/kernels/copy_batch.hpp"
#include "transports/memory/strided_loops.hpp"

namespace penstock::transports::kernels {

/// Units that a thread copies at a time, by unit_shift, with all loads before the first store: sources may be
/// a peer's memory, 1.5 µs away. Each block copies as many per thread.
inline constexpr std::uint32_t units_in_flight[] = {8, 8, 8, 8, 4};
inline constexpr std::uint32_t largest_unit_shift = 4;

/// Some bytes of a message, from one layout to another.
struct StridedItem {
  void* to;          ///< where the message begins
  const void* from;  ///< likewise
  std::uint32_t bytes;
  std::uint32_t unit_shift;  ///< units are 1 << unit_shift bytes, which divides all these numbers
  std::uint32_t to_begin;    ///< the message's byte at which the item begins
  std::uint32_t from_begin;
  StridedLoops to_loops;
  StridedLoops from_loops;
};

/// As CopyBatch. Each capacity has one kernel, `penstock_strided_copy_<capacity>`.
template <std::uint32_t capacity>
struct StridedBatch {
  std::uint32_t* flag;  ///< host memory as the device sees it: becomes 1 when all is copied; may be null
  std::uint32_t slot;   ///< whose counter to use
  std::uint32_t count;
  std::uint32_t first_block[capacity];
  StridedItem items[capacity];
};
#define PENSTOCK_STRIDED_CAPACITIES(row) row(2) row(8) row(28)
inline constexpr std::uint32_t largest_strided_capacity = 28;
static_assert(sizeof(StridedBatch<largest_strided_capacity>) <= 4096);

/// Rows of an irregular layout: `bytes` each, `stride` apart, the first at `offset`.
struct Run {
  std::int64_t offset;
  std::int64_t stride;
  std::uint32_t start;  ///< the message's byte at which it begins
  std::uint32_t bytes;
};

/// Some bytes of a message between an irregular layout and memory in one piece. One kernel each way,
/// `penstock_gather_runs` and `penstock_scatter_runs`, called with (RunsCopy).
struct RunsCopy {
  void* laid_out;  ///< where the message begins
  void* packed;
  const Run* runs;  ///< device memory, in the message's order
  std::uint32_t run_count;
  std::uint32_t begin;  ///< the message's byte at which these begin
  std::uint32_t bytes;
  std::uint32_t unit_shift;  ///< as StridedItem's
};

}  // namespace penstock::transports::kernels
