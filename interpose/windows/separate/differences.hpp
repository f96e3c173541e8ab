// Finds where two stretches of memory differ. Knows nothing of windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock::interpose {

namespace detail {

inline std::uint64_t differing_bits(const std::byte* a, const std::byte* b) noexcept {
  std::uint64_t from_a = 0;
  std::uint64_t from_b = 0;
  std::memcpy(&from_a, a, sizeof from_a);
  std::memcpy(&from_b, b, sizeof from_b);
  return from_a ^ from_b;
}

constexpr bool has_zero_byte(std::uint64_t word) noexcept {
  return ((word - 0x0101010101010101) & ~word & 0x8080808080808080) != 0;
}

/// Returns the first offset from `at` on where they differ; `bytes`: nowhere.
inline std::size_t next_difference(const std::byte* a, const std::byte* b, std::size_t at,
                                   std::size_t bytes) noexcept {
  constexpr std::size_t page = 4096;
  while (at + page <= bytes && std::memcmp(a + at, b + at, page) == 0) at += page;
  while (at + 8 <= bytes && differing_bits(a + at, b + at) == 0) at += 8;
  while (at < bytes && a[at] == b[at]) ++at;
  return at;
}

/// Returns the first offset from `at` on where they are equal; `bytes`: nowhere.
inline std::size_t next_equality(const std::byte* a, const std::byte* b, std::size_t at,
                                 std::size_t bytes) noexcept {
  while (at + 8 <= bytes && !has_zero_byte(differing_bits(a + at, b + at))) at += 8;
  while (at < bytes && a[at] != b[at]) ++at;
  return at;
}

}  // namespace detail

/// Calls `visit(offset, length)` for each run of bytes that differ, in order. Runs with at most `joined`
/// equal bytes between them are visited as one. `visit` may make the run alike.
template <typename Visit>
void for_each_difference(const std::byte* a, const std::byte* b, std::size_t bytes, std::size_t joined,
                         Visit visit) {
  std::size_t begin = detail::next_difference(a, b, 0, bytes);
  while (begin < bytes) {
    std::size_t end = detail::next_equality(a, b, begin, bytes);
    std::size_t next = detail::next_difference(a, b, end, bytes);
    while (next < bytes && next - end <= joined) {
      end = detail::next_equality(a, b, next, bytes);
      next = detail::next_difference(a, b, end, bytes);
    }
    visit(begin, end - begin);
    begin = next;
  }
}

}  // namespace penstock::interpose
