// The lists of integers that may travel as bitmaps, and the figures that both sides use for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transports/kernels/list_bitmap.hpp"

namespace penstock::transports {

/// The element type of a payload that is a list. Numbers are part of the Offer.
enum class Integer : std::uint8_t { none, int32, uint32, int64, uint64 };

/// In which order a list's integers may arrive.
enum class ListOrder : std::uint8_t {
  kept,  ///< as they lie there: only a list that strictly increases can be a bitmap
  any,   ///< it is a set to the program: it may arrive in increasing order
};

[[nodiscard]] constexpr std::size_t bytes_of(Integer integer) noexcept {
  switch (integer) {
    case Integer::int32:
    case Integer::uint32:
      return 4;
    case Integer::int64:
    case Integer::uint64:
      return 8;
    case Integer::none:
      break;
  }
  return 0;
}
[[nodiscard]] constexpr bool is_signed(Integer integer) noexcept {
  return integer == Integer::int32 || integer == Integer::int64;
}

/// Allows two bitmaps in flight in the memory for them (cuda::RelaySlice), even for the largest lists.
inline constexpr std::uint64_t largest_bitmap_bytes = 64u << 20;

/// Returns the most words of a worthwhile bitmap, which is at most half its list's size: the kernels, and
/// waiting for them, cost the rest.
[[nodiscard]] constexpr std::uint64_t most_words(std::uint64_t list_bytes) noexcept {
  return kernels::most_words_in(list_bytes / 2 < largest_bitmap_bytes ? list_bytes / 2
                                                                      : largest_bitmap_bytes);
}

}  // namespace penstock::transports
