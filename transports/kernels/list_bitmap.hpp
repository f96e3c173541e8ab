// What the host hands to the kernels that turn lists of increasing integers into bitmaps and back, and what a
// bitmap looks like on its way. For host code, nvcc and the simulated GPU alike. Knows no MPI.
#pragma once

#include <cstdint>

namespace penstock::transports::kernels {

/// What travels in a list's place: this, then its words, then the places of its tiles. Bit n of word m stands
/// for the integer first + 32 m + n, modulo the integers' size.
struct ListBitmap {
  std::uint64_t first;    ///< the list's first integer, as it lies in memory
  std::uint64_t count;    ///< integers in the list
  std::uint32_t refused;  ///< not 0: it is none, or does not fit its list
  std::uint32_t words;    ///< while a set is packed: of its bitmap; 0 if it is refused
  std::uint32_t reserved[2];
};
inline constexpr std::uint32_t integers_in_word = 32;

/// Words that one block of threads unpacks at a time. Behind the last word stands, for each tile and the end,
/// how many integers come before it: so tiles are unpacked without being counted first.
inline constexpr std::uint32_t tile_words = 256;

[[nodiscard]] constexpr std::uint64_t tiles_of(std::uint64_t words) noexcept {
  return (words + tile_words - 1) / tile_words;
}
/// Of all that travels.
[[nodiscard]] constexpr std::uint64_t bitmap_bytes(std::uint64_t words) noexcept {
  return sizeof(ListBitmap) + sizeof(std::uint32_t) * (words + tiles_of(words) + 1);
}
/// The words of the largest bitmap of so many bytes; 0 if there is none.
[[nodiscard]] constexpr std::uint64_t most_words_in(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t apart = sizeof(ListBitmap) + 2 * sizeof(std::uint32_t);
  if (bytes <= apart) return 0;
  const std::uint64_t rest = (bytes - apart) / sizeof(std::uint32_t);
  return rest * tile_words / (tile_words + 1);
}

/// Called with by `penstock_pack_list_32` and `_64`, of the integers' size, for lists that must increase.
/// Lists whose order does not matter take three launches: `penstock_measure_set_*`, `penstock_fill_set_*` and
/// `penstock_place_set`, of which the last raises the flag.
struct ListPacking {
  const void* list;     ///< aligned to its integers
  std::uint64_t count;  ///< at least 2, less than 2^32
  std::uint64_t sign;   ///< the integers' sign bit if they have one, else 0
  ListBitmap* bitmap;   ///< zeros up to the end of what `most_words` may need
  std::uint64_t most_words;
  std::uint32_t* flag;  ///< host memory as the device sees it; becomes 1 at the end if the list does not
                        ///< strictly increase (of a set: if an integer comes twice) or its bitmap would be
                        ///< larger, else the bitmap's words + 1
  std::uint32_t slot;   ///< whose counter to use
};

/// Called with by `penstock_unpack_list_32` and `_64`. Nothing but `count` integers of the list is written,
/// whatever the bitmap says.
struct ListUnpacking {
  ListBitmap* bitmap;  ///< `refused` is written, too
  std::uint64_t words;
  std::uint64_t count;
  void* list;           ///< aligned to its integers
  std::uint32_t* flag;  ///< becomes 1 at the end, or 2 if the bitmap is not of such a list
  std::uint32_t slot;
};

/// Of these kernels, whose blocks of so many threads share the work, however many there are.
inline constexpr std::uint32_t list_threads = 256;
static_assert(list_threads == tile_words);

}  // namespace penstock::transports::kernels
