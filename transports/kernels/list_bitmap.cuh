// The device code that turns a strictly increasing list into a bitmap. Only kernels.cu includes this file.
#pragma once

#include "transports/kernels/list_bitmap.hpp"

namespace penstock::transports::kernels {
namespace {

/// Does the same as tiles_of(), which device code cannot call.
__device__ std::uint64_t tiles_in(std::uint64_t words) {
  return (words + tile_words - 1) / tile_words;
}
__device__ std::uint32_t* words_of(ListBitmap* bitmap) {
  return reinterpret_cast<std::uint32_t*>(bitmap + 1);
}
/// Returns whether any block has refused it so far.
__device__ bool has_been_refused(const ListBitmap& bitmap) {
  return *static_cast<const volatile std::uint32_t*>(&bitmap.refused) != 0;
}
__device__ std::uint32_t* places_of(ListBitmap* bitmap, std::uint64_t words) {
  return words_of(bitmap) + words;
}

/// Integers of a list that a thread packs at a time: neighbours, most of which share a word.
constexpr std::uint32_t integers_of_run = 8;

/// A list's integers as positions in the bitmap: in unsigned order whether they are signed or not, counted
/// from the first one. Those below the first one, or above the last, wrap around to something above top().
template <class Integer>
class IncreasingList {
 public:
  __device__ explicit IncreasingList(const ListPacking& packing)
      : list_(static_cast<const Integer*>(packing.list)),
        count_(packing.count),
        sign_(static_cast<Integer>(packing.sign)) {
    first_ = list_[0] ^ sign_;
    const Integer last = list_[count_ - 1] ^ sign_;
    top_ = static_cast<Integer>(last - first_);
    words_ = last > first_ ? std::uint64_t{top_} / integers_in_word + 1 : 0;
  }
  __device__ Integer operator[](std::uint64_t index) const { return position(list_[index]); }
  __device__ std::uint64_t count() const { return count_; }
  __device__ Integer top() const { return top_; }
  /// Returns the words of its bitmap; 0 if the list does not increase.
  __device__ std::uint64_t words() const { return words_; }

  /// Loads the positions from there on.
  __device__ void load_run(std::uint64_t index, Integer (&positions)[integers_of_run]) const {
    struct alignas(16) Part {
      Integer integers[16 / sizeof(Integer)];
    };
    constexpr std::uint32_t integers_of_part = 16 / sizeof(Integer);
    const Integer* const from = list_ + index;
    if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Part) == 0) {
      for (std::uint32_t i = 0; i < integers_of_run / integers_of_part; ++i) {
        const Part part = reinterpret_cast<const Part*>(from)[i];
        for (std::uint32_t j = 0; j < integers_of_part; ++j)
          positions[i * integers_of_part + j] = position(part.integers[j]);
      }
    } else {
      for (std::uint32_t i = 0; i < integers_of_run; ++i) positions[i] = position(from[i]);
    }
  }

 private:
  __device__ Integer position(Integer integer) const {
    return static_cast<Integer>((integer ^ sign_) - first_);
  }

  const Integer* list_;
  std::uint64_t count_;
  Integer sign_;
  Integer first_;
  Integer top_;
  std::uint64_t words_;
};

/// Integers of a list that a block packs at a time, and the most words in which it gathers them before they
/// go to the bitmap: twice what they take if the bitmap is half the list.
constexpr std::uint32_t packed_at_once = integers_of_run * list_threads;
constexpr std::uint32_t gathered_words = packed_at_once;

/// The destination of a block's integers.
struct PackedWords {
  std::uint32_t* gathering;  ///< the block's own copy of some words, if there are few enough
  std::uint64_t first_gathered;
  std::uint32_t gathered;  ///< 0: there is no copy
  std::uint32_t* words;    ///< of the bitmap
  std::uint32_t* places;

  __device__ void add(std::uint64_t word, std::uint32_t bits) const {
    const std::uint64_t own = word - first_gathered;
    atomicOr(own < gathered ? gathering + own : words + word, bits);
  }
};

constexpr std::uint64_t integers_of_tile = std::uint64_t{tile_words} * integers_in_word;

/// Notes the tiles that begin between an integer at `position` and the `next` one, which has the number
/// `index`.
__device__ void note_places(std::uint32_t* places, std::uint64_t position, std::uint64_t next,
                            std::uint64_t index) {
  for (std::uint64_t begun = position / integers_of_tile + 1; begun <= next / integers_of_tile; ++begun)
    places[begun] = static_cast<std::uint32_t>(index);
}

/// Packs one integer. Returns false if it is out of place.
template <class Integer>
__device__ bool pack_integer(const IncreasingList<Integer>& list, std::uint64_t index,
                             const PackedWords& to) {
  const Integer position = list[index];
  const bool is_last = index + 1 == list.count();
  const Integer next = is_last ? list.top() : list[index + 1];
  if (position > list.top() || next > list.top() || (!is_last && position >= next)) return false;
  to.add(position / integers_in_word, 1u << position % integers_in_word);
  note_places(to.places, position, next, index + 1);
  return true;
}

/// Packs a whole run, with one atomic operation a word: neighbours with one each would wait for each other.
/// Returns false if an integer is out of place. All stays in registers, so no index may depend on data.
template <class Integer>
__device__ bool pack_run(const IncreasingList<Integer>& list, std::uint64_t index, const PackedWords& to) {
  constexpr std::uint32_t last = integers_of_run - 1;
  Integer positions[integers_of_run];
  list.load_run(index, positions);
  const bool ends_list = index + integers_of_run == list.count();
  const Integer next = ends_list ? list.top() : list[index + integers_of_run];
  bool increases = next <= list.top() && (ends_list ? positions[last] == next : positions[last] < next);
  for (std::uint32_t i = 0; i < last; ++i) increases = increases && positions[i] < positions[i + 1];
  if (!increases) return false;
  Integer word = positions[0] / integers_in_word;
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < integers_of_run; ++i) {
    if (positions[i] / integers_in_word != word) {
      to.add(word, bits);
      word = positions[i] / integers_in_word;
      bits = 0;
    }
    bits |= 1u << positions[i] % integers_in_word;
  }
  to.add(word, bits);
  if (positions[0] / integers_of_tile != next / integers_of_tile) {
    for (std::uint32_t i = 0; i < last; ++i)
      note_places(to.places, positions[i], positions[i + 1], index + i + 1);
    note_places(to.places, positions[last], next, index + integers_of_run);
  }
  return true;
}

/// Returns false if some integers are out of place.
template <class Integer>
__device__ bool pack_integers(const IncreasingList<Integer>& list, std::uint64_t begin, std::uint64_t end,
                              const PackedWords& to) {
  const std::uint64_t index = begin + std::uint64_t{threadIdx.x} * integers_of_run;
  if (index + integers_of_run <= end) return pack_run(list, index, to);
  bool increases = true;
  for (std::uint64_t i = index; i < end; ++i) increases = pack_integer(list, i, to) && increases;
  return increases;
}

/// Adds the gathered words to the bitmap. Other blocks may share the first and the last.
__device__ void add_gathered(const PackedWords& to) {
  std::uint32_t* const words = to.words + to.first_gathered;
  for (std::uint32_t i = threadIdx.x; i < to.gathered; i += list_threads) {
    if (i == 0 || i + 1 == to.gathered) {
      atomicOr(words + i, to.gathering[i]);
    } else {
      words[i] = to.gathering[i];
    }
  }
}

template <class Integer>
__device__ void pack_list(const ListPacking& packing) {
  __shared__ std::uint32_t gathering[gathered_words];
  const IncreasingList<Integer> list(packing);
  if (list.words() == 0 || list.words() > packing.most_words) return;
  PackedWords to{gathering, 0, 0, words_of(packing.bitmap), places_of(packing.bitmap, list.words())};
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    to.places[0] = 0;
    to.places[tiles_in(list.words())] = static_cast<std::uint32_t>(packing.count);
  }
  __shared__ bool is_refused;
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * packed_at_once; begin < packing.count;
       begin += std::uint64_t{gridDim.x} * packed_at_once) {
    if (threadIdx.x == 0) is_refused = has_been_refused(*packing.bitmap);
    const std::uint64_t end = begin + packed_at_once < packing.count ? begin + packed_at_once : packing.count;
    const Integer lowest = list[begin];
    const Integer highest = list[end - 1];
    to.first_gathered = lowest / integers_in_word;
    to.gathered = 0;
    if (lowest <= highest && highest <= list.top()) {
      const std::uint64_t count = highest / integers_in_word - to.first_gathered + 1;
      if (count <= gathered_words) to.gathered = static_cast<std::uint32_t>(count);
    }
    for (std::uint32_t i = threadIdx.x; i < to.gathered; i += list_threads) gathering[i] = 0;
    __syncthreads();
    if (is_refused) return;
    if (!pack_integers(list, begin, end, to)) packing.bitmap->refused = 1;
    __syncthreads();
    add_gathered(to);
    __syncthreads();
  }
}

/// The last thread of all runs this. Returns the flag's value.
template <class Integer>
__device__ std::uint32_t conclude_packing(const ListPacking& packing) {
  const IncreasingList<Integer> list(packing);
  if (list.words() == 0 || list.words() > packing.most_words || has_been_refused(*packing.bitmap)) return 1;
  packing.bitmap->first = static_cast<const Integer*>(packing.list)[0];
  packing.bitmap->count = packing.count;
  return static_cast<std::uint32_t>(list.words()) + 1;
}

}  // namespace
}  // namespace penstock::transports::kernels
