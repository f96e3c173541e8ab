// Lists of integers that may travel as bitmaps: which ones, and the figures that both sides reckon with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transports/kernels/list_bitmap.hpp"

namespace penstock::transports {

/// What a payload is a list of. Numbers are part of the Offer.
enum class Integer : std::uint8_t { none, int32, uint32, int64, uint64 };

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

/// A bitmap is worth while up to half its list's size: the kernels, and the waiting for them, cost the rest.
[[nodiscard]] constexpr std::uint64_t most_words(std::uint64_t list_bytes) noexcept {
  return kernels::most_words_in(list_bytes / 2);
}

}  // namespace penstock::transports
