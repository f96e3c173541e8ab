// The device code that turns a bitmap back into its list. Only kernels.cu includes this file.
#pragma once

#include "transports/kernels/list_bitmap.hpp"
#include "transports/kernels/list_place.cuh"

namespace penstock::transports::kernels {
namespace {

/// For few integers: each thread notes those of its word, and all write them side by side.
template <class Integer>
__device__ void unpack_sparse(std::uint32_t word, const WordPlace& place, Integer first, Integer* list) {
  __shared__ std::uint16_t positions[tile_words * integers_in_word / 4];
  std::uint32_t next = place.before;
  for (std::uint32_t bits = word; bits != 0; bits &= bits - 1) {
    const auto bit = static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
    positions[next++] = static_cast<std::uint16_t>(threadIdx.x * integers_in_word + bit);
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < place.total; i += list_threads)
    list[i] = static_cast<Integer>(first + positions[i]);
  __syncthreads();
}

/// For many: a warp takes its words one after another, each lane stands for a bit, and neighbours write side
/// by side.
template <class Integer>
__device__ void unpack_dense(std::uint32_t word, const WordPlace& place, Integer first, Integer* list) {
  constexpr std::uint32_t lanes = 32;
  const std::uint32_t lane = threadIdx.x % lanes;
  const std::uint32_t first_word = threadIdx.x - lane;
  for (std::uint32_t from = 0; from < lanes; ++from) {
    const std::uint32_t bits = __shfl_sync(~0u, word, static_cast<int>(from));
    const std::uint32_t before = __shfl_sync(~0u, place.before, static_cast<int>(from));
    if ((bits >> lane & 1) == 0) continue;
    const auto below = static_cast<std::uint32_t>(__popc(bits & ((1u << lane) - 1)));
    list[before + below] = static_cast<Integer>(first + (first_word + from) * integers_in_word + lane);
  }
}

template <class Integer>
__device__ void unpack_list(const ListUnpacking& unpacking) {
  const std::uint32_t* const words = words_of(unpacking.bitmap);
  const std::uint32_t* const places = places_of(unpacking.bitmap, unpacking.words);
  for (std::uint64_t tile = blockIdx.x; tile < tiles_in(unpacking.words); tile += gridDim.x) {
    const std::uint64_t index = tile * tile_words + threadIdx.x;
    const std::uint32_t word = index < unpacking.words ? words[index] : 0;
    const WordPlace place = place_word(static_cast<std::uint32_t>(__popc(word)));
    const std::uint64_t begin = places[tile];
    if (places[tile + 1] != begin + place.total || begin + place.total > unpacking.count) {
      unpacking.bitmap->refused = 1;
    } else {
      auto* const list = static_cast<Integer*>(unpacking.list) + begin;
      const auto first = static_cast<Integer>(unpacking.bitmap->first + tile * tile_words * integers_in_word);
      if (place.total <= tile_words * integers_in_word / 4) {
        unpack_sparse(word, place, first, list);
      } else {
        unpack_dense(word, place, first, list);
      }
    }
    __syncthreads();
  }
}

/// The last thread of all runs this. Returns the flag's value.
__device__ std::uint32_t conclude_unpacking(const ListUnpacking& unpacking) {
  const std::uint32_t end = places_of(unpacking.bitmap, unpacking.words)[tiles_in(unpacking.words)];
  const bool is_whole = end == unpacking.count && unpacking.bitmap->count == unpacking.count;
  return is_whole && !has_been_refused(*unpacking.bitmap) ? 1 : 2;
}

}  // namespace
}  // namespace penstock::transports::kernels
