// The device code that turns lists into bitmaps and back. Only kernels.cu includes this file.
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
