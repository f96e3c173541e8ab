// Parameters of the kernels that turn lists of increasing integers into bitmaps and back, and the layout of a
// bitmap as it travels. For host code, nvcc and the simulated GPU alike. This header knows no MPI.
#pragma once

#include <cstdint>

namespace penstock::transports::kernels {

/// Travels in place of a list: this header, then the bitmap's words, then the places of its tiles. Bit n of
/// word m stands for the integer first + 32 m + n, modulo the integers' size.
struct ListBitmap {
  std::uint64_t first;    ///< the list's first integer, as it lies in memory
  std::uint64_t count;    ///< integers in the list
  std::uint32_t refused;  ///< not 0: no bitmap, or one that does not fit its list
  std::uint32_t words;    ///< while a set is packed: of its bitmap; 0 if it is refused
  std::uint32_t reserved[2];
};
inline constexpr std::uint32_t integers_in_word = 32;

/// Words that one block of threads unpacks at a time. Behind the last word stands, for each tile and for the
/// end, the number of integers before it, so that tiles are unpacked without counting first.
inline constexpr std::uint32_t tile_words = 256;

[[nodiscard]] constexpr std::uint64_t tiles_of(std::uint64_t words) noexcept {
  return (words + tile_words - 1) / tile_words;
}
/// Returns the bytes of all that travels.
[[nodiscard]] constexpr std::uint64_t bitmap_bytes(std::uint64_t words) noexcept {
  return sizeof(ListBitmap) + sizeof(std::uint32_t) * (words + tiles_of(words) + 1);
}
/// Returns the words of the largest bitmap of that many bytes; 0 if there is none.
[[nodiscard]] constexpr std::uint64_t most_words_in(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t apart = sizeof(ListBitmap) + 2 * sizeof(std::uint32_t);
  if (bytes <= apart) return 0;
  const std::uint64_t rest = (bytes - apart) / sizeof(std::uint32_t);
  return rest * tile_words / (tile_words + 1);
}

/// Parameters of `penstock_pack_list_32` and `_64`, named after the integers' size, for lists that must
/// increase. Lists whose order does not matter take three launches: `penstock_measure_set_*`,
/// `penstock_fill_set_*` and `penstock_place_set`, of which the last raises the flag.
struct ListPacking {
  const void* list;     ///< aligned to its integers
  std::uint64_t count;  ///< at least 2, less than 2^32
  std::uint64_t sign;   ///< the integers' sign bit if they have one, else 0
  ListBitmap* bitmap;   ///< zeros up to the end of what `most_words` may need
  std::uint64_t most_words;
  std::uint32_t* flag;  ///< host memory as the device sees it; becomes 1 at the end if the list does not
                        ///< strictly increase (of a set: if an integer occurs twice) or its bitmap would be
                        ///< larger, else the bitmap's words + 1
  std::uint32_t slot;   ///< whose counter to use
};

/// Parameters of `penstock_unpack_list_32` and `_64`. They write only `count` integers of the list, whatever
/// the bitmap contains.
struct ListUnpacking {
  ListBitmap* bitmap;  ///< `refused` is written, too
  std::uint64_t words;
  std::uint64_t count;
  void* list;           ///< aligned to its integers
  std::uint32_t* flag;  ///< becomes 1 at the end, or 2 if the bitmap is not of such a list
  std::uint32_t slot;
};

/// Threads in a block of these kernels; any number of blocks shares the work.
inline constexpr std::uint32_t list_threads = 256;
static_assert(list_threads == tile_words);

}  // namespace penstock::transports::kernels
