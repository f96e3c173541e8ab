// The device code of copies between layouts in pieces. Only kernels.cu includes this file.
#pragma once

#include "transports/kernels/loads.cuh"
#include "transports/kernels/strided_copy.hpp"

namespace penstock::transports::kernels {
namespace {

/// Returns where a byte of the message lies.
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

template <class Word>
struct Words {
  Word* to;
  const Word* from;
};
/// Copies one round: units from `begin` on, each thread's as far apart as there are threads. `words_of(unit)`
/// returns the destination and the source of the n-th of `units`.
template <class Word, std::uint32_t in_flight, Loads loads, class WordsOf>
__device__ void copy_units(std::uint32_t begin, std::uint32_t units, ThreadGroup group, WordsOf words_of) {
  Word held[in_flight] = {};
  Word* to[in_flight] = {};
#ifdef __CUDACC__
#pragma unroll
#endif
  for (std::uint32_t i = 0; i < in_flight; ++i) {
    const std::uint32_t unit = begin + i * group.threads + group.thread;
    if (unit >= units) continue;
    const Words<Word> words = words_of(unit);
    to[i] = words.to;
    held[i] = load<loads>(words.from);
  }
#ifdef __CUDACC__
#pragma unroll
#endif
  for (std::uint32_t i = 0; i < in_flight; ++i) {
    if (to[i] != nullptr) *to[i] = held[i];
  }
}

template <class Word, std::uint32_t unit_shift, Loads loads>
__device__ void copy_strided_units(const StridedItem& item, std::uint32_t round, std::uint32_t rounds,
                                   ThreadGroup group) {
  static_assert(sizeof(Word) == 1u << unit_shift);
  constexpr std::uint32_t in_flight = units_in_flight[unit_shift];
  const std::uint32_t units = item.bytes >> unit_shift;
  const std::uint32_t units_each = in_flight * group.threads;
  for (; rounds != 0 && round * units_each < units; ++round, --rounds) {
    copy_units<Word, in_flight, loads>(round * units_each, units, group, [&](std::uint32_t unit) {
      const std::uint32_t position = unit << unit_shift;
      return Words<Word>{
          reinterpret_cast<Word*>(static_cast<char*>(item.to) +
                                  offset_of(item.to_loops, item.to_begin + position)),
          reinterpret_cast<const Word*>(static_cast<const char*>(item.from) +
                                        offset_of(item.from_loops, item.from_begin + position))};
    });
  }
}

/// Copies `rounds` rounds of the item from `round` on, or as many as there are.
template <Loads loads>
__device__ void copy_strided(const StridedItem& item, std::uint32_t round, std::uint32_t rounds,
                             ThreadGroup group) {
  switch (item.unit_shift) {
    case 4:
      return copy_strided_units<Word16, 4, loads>(item, round, rounds, group);
    case 3:
      return copy_strided_units<std::uint64_t, 3, loads>(item, round, rounds, group);
    case 2:
      return copy_strided_units<std::uint32_t, 2, loads>(item, round, rounds, group);
    case 1:
      return copy_strided_units<std::uint16_t, 1, loads>(item, round, rounds, group);
    default:
      return copy_strided_units<std::uint8_t, 0, loads>(item, round, rounds, group);
  }
}

/// Returns the last of runs [first, end) that begins at the byte of the message or before.
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
  copy_units<Word, in_flight, Loads::cached>(begin, units, all_of_block(), [&](std::uint32_t unit) {
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
