// Where a bitmap's integers lie in its list. Only device code includes this file.
#pragma once

#include "transports/kernels/list_bitmap.hpp"

namespace penstock::transports::kernels {
namespace {

/// Number of integers in the block's tile: before the calling thread's word, and in all.
struct WordPlace {
  std::uint32_t before;
  std::uint32_t total;
};
__device__ WordPlace place_word(std::uint32_t count) {
  constexpr std::uint32_t lanes = 32;
  __shared__ std::uint32_t sums[list_threads / lanes];
  const std::uint32_t lane = threadIdx.x % lanes;
  std::uint32_t upto = count;
  for (std::uint32_t distance = 1; distance < lanes; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(~0u, upto, distance);
    if (lane >= distance) upto += other;
  }
  if (lane == lanes - 1) sums[threadIdx.x / lanes] = upto;
  __syncthreads();
  WordPlace place{upto - count, 0};
  for (std::uint32_t warp = 0; warp < list_threads / lanes; ++warp) {
    if (warp < threadIdx.x / lanes) place.before += sums[warp];
    place.total += sums[warp];
  }
  return place;
}

}  // namespace
}  // namespace penstock::transports::kernels
