// The device code that turns a list whose order does not matter into a bitmap. Only kernels.cu includes this
// file.
#pragma once

#include "transports/kernels/list_bitmap.hpp"
#include "transports/kernels/list_place.cuh"

namespace penstock::transports::kernels {
namespace {

/// Returns an integer of a list whose order does not matter, as it is compared: unsigned whether it has a
/// sign or not.
template <class Integer>
__device__ Integer key_of(const ListPacking& packing, std::uint64_t index) {
  return static_cast<const Integer*>(packing.list)[index] ^ static_cast<Integer>(packing.sign);
}

__device__ std::uint64_t stride_of_launch() {
  return std::uint64_t{gridDim.x} * list_threads;
}
__device__ std::uint64_t thread_of_launch() {
  return std::uint64_t{blockIdx.x} * list_threads + threadIdx.x;
}

/// The highest key, and the highest of the inverted ones, which is the lowest: thus both begin with zero.
struct KeyRange {
  unsigned long long inverted_lowest;
  unsigned long long highest;
};
/// Lies where the bitmap's header will be, until the range is known.
__device__ KeyRange& range_of(ListBitmap& bitmap) {
  static_assert(sizeof(KeyRange) == sizeof(bitmap.first) + sizeof(bitmap.count));
  return reinterpret_cast<KeyRange&>(bitmap);
}
__device__ void widen(KeyRange& range, const KeyRange& by) {
  atomicMax(&range.inverted_lowest, by.inverted_lowest);
  atomicMax(&range.highest, by.highest);
}

template <class Integer>
__device__ void measure_set(const ListPacking& packing) {
  __shared__ KeyRange of_block;
  if (threadIdx.x == 0) of_block = {0, 0};
  __syncthreads();
  KeyRange own{0, 0};
  for (std::uint64_t index = thread_of_launch(); index < packing.count; index += stride_of_launch()) {
    const auto key = key_of<Integer>(packing, index);
    const auto inverted = static_cast<Integer>(~key);
    if (key > own.highest) own.highest = key;
    if (inverted > own.inverted_lowest) own.inverted_lowest = inverted;
  }
  widen(of_block, own);
  __syncthreads();
  if (threadIdx.x == 0) widen(range_of(*packing.bitmap), of_block);
}

/// The last thread of all runs this: it writes what the next launches need.
template <class Integer>
__device__ void conclude_measuring(const ListPacking& packing) {
  ListBitmap& bitmap = *packing.bitmap;
  const volatile KeyRange& range = range_of(bitmap);
  const auto lowest = static_cast<Integer>(~static_cast<Integer>(range.inverted_lowest));
  const auto top = static_cast<Integer>(static_cast<Integer>(range.highest) - lowest);
  const std::uint64_t words = std::uint64_t{top} / integers_in_word + 1;
  // no set has more integers than there are between its lowest and its highest
  const bool may_be_one = std::uint64_t{top} >= packing.count - 1 && words <= packing.most_words;
  bitmap.first = lowest ^ static_cast<Integer>(packing.sign);
  bitmap.count = packing.count;
  bitmap.words = may_be_one ? static_cast<std::uint32_t>(words) : 0;
}

__device__ void set_bit(std::uint32_t* words, std::uint64_t position) {
  atomicOr(words + position / integers_in_word, 1u << position % integers_in_word);
}

template <class Integer>
__device__ void fill_set(const ListPacking& packing) {
  if (packing.bitmap->words == 0) return;
  const auto lowest =
      static_cast<Integer>(static_cast<Integer>(packing.bitmap->first) ^ static_cast<Integer>(packing.sign));
  for (std::uint64_t index = thread_of_launch(); index < packing.count; index += stride_of_launch())
    set_bit(words_of(packing.bitmap), static_cast<Integer>(key_of<Integer>(packing, index) - lowest));
}

/// Writes each tile's number of integers to its place.
__device__ void count_set(const ListPacking& packing) {
  const std::uint32_t words = packing.bitmap->words;
  std::uint32_t* const places = places_of(packing.bitmap, words);
  for (std::uint64_t tile = blockIdx.x; tile < tiles_in(words); tile += gridDim.x) {
    const std::uint64_t index = tile * tile_words + threadIdx.x;
    const std::uint32_t word = index < words ? words_of(packing.bitmap)[index] : 0;
    const WordPlace place = place_word(static_cast<std::uint32_t>(__popc(word)));
    if (threadIdx.x == 0) places[tile] = place.total;
    __syncthreads();
  }
}

/// The last block of all runs this once every tile is counted: it sums the integers before each tile. Returns
/// the flag's value.
__device__ std::uint32_t place_set(const ListPacking& packing) {
  constexpr std::uint32_t tiles_a_thread = 8;
  const std::uint32_t words = packing.bitmap->words;
  if (words == 0) return 1;
  std::uint32_t* const places = places_of(packing.bitmap, words);
  const std::uint64_t tiles = tiles_in(words);
  std::uint32_t before = 0;
  for (std::uint64_t begin = 0; begin < tiles; begin += std::uint64_t{list_threads} * tiles_a_thread) {
    const std::uint64_t first = begin + std::uint64_t{threadIdx.x} * tiles_a_thread;
    std::uint32_t counts[tiles_a_thread];
    std::uint32_t own = 0;
    for (std::uint32_t i = 0; i < tiles_a_thread; ++i) {
      counts[i] = first + i < tiles ? static_cast<const volatile std::uint32_t*>(places)[first + i] : 0;
      own += counts[i];
    }
    const WordPlace place = place_word(own);
    std::uint32_t next = before + place.before;
    for (std::uint32_t i = 0; i < tiles_a_thread && first + i < tiles; ++i) {
      places[first + i] = next;
      next += counts[i];
    }
    before += place.total;
    __syncthreads();
  }
  if (threadIdx.x == 0) places[tiles] = before;
  return before == packing.count ? words + 1 : 1;
}

}  // namespace
}  // namespace penstock::transports::kernels
