// The device code of copies between layouts in pieces. Included by kernels.cu only.
#pragma once

#include "transports/kernels/strided_copy.hpp"

namespace penstock::transports::kernels {
namespace {

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

/// Where a byte of the message lies.
__device__ std::int64_t offset_of(const StridedLoops& loops, std::uint32_t position) {
  if (loops.depth == 0) return position;
  std::uint32_t row = position / loops.row_bytes;
  std::int64_t offset = position - row * loops.row_bytes;
#ifdef __CUDACC__
#pragma unroll
#endif
  for (std::uint32_t loop = 0; loop < StridedLoops::most_loops; ++loop) {
    if (loop + 1 == loops.depth) return offset + row * loops.strides[loop];
    const std::uint32_t next = row / loops.counts[loop];
    offset += (row - next * loops.counts[loop]) * loops.strides[loop];
    row = next;
  }
  return offset;
}

/// `address_of(unit)` says where the n-th of `units` words is to go and where it comes from.
template <class Word>
struct Words {
  Word* to;
  const Word* from;
};
template <class Word, std::uint32_t in_flight, class AddressOf>
__device__ void copy_units(std::uint32_t begin, std::uint32_t units, AddressOf addresses_of) {
  Word held[in_flight] = {};
  Word* to[in_flight] = {};
#ifdef __CUDACC__
#pragma unroll
#endif
  for (std::uint32_t i = 0; i < in_flight; ++i) {
    const std::uint32_t unit = begin + i * blockDim.x + threadIdx.x;
    if (unit >= units) continue;
    const Words<Word> words = addresses_of(unit);
    to[i] = words.to;
    held[i] = *words.from;
  }
#ifdef __CUDACC__
#pragma unroll
#endif
  for (std::uint32_t i = 0; i < in_flight; ++i) {
    if (to[i] != nullptr) *to[i] = held[i];
  }
}

template <class Word, std::uint32_t unit_shift>
__device__ void copy_strided_units(const StridedItem& item, std::uint32_t block) {
  static_assert(sizeof(Word) == 1u << unit_shift);
  constexpr std::uint32_t in_flight = units_in_flight[unit_shift];
  copy_units<Word, in_flight>(
      block * in_flight * blockDim.x, item.bytes >> unit_shift, [&](std::uint32_t unit) -> Words<Word> {
        const std::uint32_t position = unit << unit_shift;
        return {reinterpret_cast<Word*>(static_cast<char*>(item.to) +
                                        offset_of(item.to_loops, item.to_begin + position)),
                reinterpret_cast<const Word*>(static_cast<const char*>(item.from) +
                                              offset_of(item.from_loops, item.from_begin + position))};
      });
}

__device__ void copy_strided(const StridedItem& item, std::uint32_t block) {
  switch (item.unit_shift) {
    case 4:
      return copy_strided_units<Word16, 4>(item, block);
    case 3:
      return copy_strided_units<std::uint64_t, 3>(item, block);
    case 2:
      return copy_strided_units<std::uint32_t, 2>(item, block);
    case 1:
      return copy_strided_units<std::uint16_t, 1>(item, block);
    default:
      return copy_strided_units<std::uint8_t, 0>(item, block);
  }
}

/// The last of runs [first, end) that begins at the byte of the message or before.
__device__ std::uint32_t run_of(const Run* runs, std::uint32_t first, std::uint32_t end,
                                std::uint32_t position) {
  while (end - first > 1) {
    const std::uint32_t middle = first + (end - first) / 2;
    (runs[middle].start <= position ? first : end) = middle;
  }
  return first;
}

/// Each block of threads searches among all runs for its first and its last unit only.
template <class Word, std::uint32_t unit_shift, bool gathers>
__device__ void copy_units_of_runs(const RunsCopy& copy) {
  static_assert(sizeof(Word) == 1u << unit_shift);
  constexpr std::uint32_t in_flight = units_in_flight[unit_shift];
  const std::uint32_t units = copy.bytes >> unit_shift;
  const std::uint32_t begin = blockIdx.x * in_flight * blockDim.x;
  const std::uint32_t end = begin + in_flight * blockDim.x;
  const std::uint32_t last = (end < units ? end : units) - 1;
  __shared__ std::uint32_t bounds[2];
  if (threadIdx.x < 2) {
    const std::uint32_t unit = threadIdx.x == 0 ? begin : last;
    bounds[threadIdx.x] = run_of(copy.runs, 0, copy.run_count, copy.begin + (unit << unit_shift));
  }
  __syncthreads();
  const std::uint32_t first_run = bounds[0];
  const std::uint32_t end_run = bounds[1] + 1;
  copy_units<Word, in_flight>(begin, units, [&](std::uint32_t unit) -> Words<Word> {
    const std::uint32_t position = copy.begin + (unit << unit_shift);
    const Run run = copy.runs[run_of(copy.runs, first_run, end_run, position)];
    const std::uint32_t in_run = position - run.start;
    const std::uint32_t row = in_run / run.bytes;
    auto* const laid_out = reinterpret_cast<Word*>(static_cast<char*>(copy.laid_out) + run.offset +
                                                   row * run.stride + (in_run - row * run.bytes));
    auto* const packed = static_cast<Word*>(copy.packed) + unit;
    return gathers ? Words<Word>{packed, laid_out} : Words<Word>{laid_out, packed};
  });
}

template <bool gathers>
__device__ void copy_runs(const RunsCopy& copy) {
  switch (copy.unit_shift) {
    case 4:
      return copy_units_of_runs<Word16, 4, gathers>(copy);
    case 3:
      return copy_units_of_runs<std::uint64_t, 3, gathers>(copy);
    case 2:
      return copy_units_of_runs<std::uint32_t, 2, gathers>(copy);
    case 1:
      return copy_units_of_runs<std::uint16_t, 1, gathers>(copy);
    default:
      return copy_units_of_runs<std::uint8_t, 0, gathers>(copy);
  }
}

}  // namespace
}  // namespace penstock::transports::kernels
