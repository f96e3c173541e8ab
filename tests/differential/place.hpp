// Where a call finds or puts its elements: regions of a rank's memory and how elements lie there. Knows no
// MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/memory.hpp"

namespace penstock::differential {

using test_support::MemoryKind;

/// A piece of its rank's memory of one kind. Guard bytes surround it.
struct Region {
  MemoryKind kind = MemoryKind::pageable;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

enum class Base : std::uint8_t { byte, int32, float64 };
[[nodiscard]] constexpr std::size_t size_of(Base base) {
  return base == Base::byte ? 1 : base == Base::int32 ? 4 : 8;
}

/// How elements lie in a region: `copies` of a type of `elements_each`, with gaps unless contiguous.
/// Absolute: one copy at addresses of several allocations, from MPI_BOTTOM on.
enum class Shape : std::uint8_t { contiguous, vector, indexed, structure, absolute };

/// How a call is told that it has no elements.
enum class Empty : std::uint8_t { count_of_zero, type_of_zero, empty_blocks, absolute_block, null_buffer };

/// A block of an absolute place.
struct Part {
  Region region;
  int elements = 0;
};

struct Place {
  Region region;  ///< unless absolute
  Shape shape = Shape::contiguous;
  int copies = 1;
  int elements_each = 0;
  Empty empty = Empty::count_of_zero;
  int empty_count = 0;            ///< of a type without elements, besides one
  bool has_empty_blocks = false;  ///< blocks without elements among the others of an irregular type
  std::vector<Part> parts;        ///< of an absolute place, in the order of its type
  [[nodiscard]] int elements() const { return copies * elements_each; }
};
/// All memory of a place.
[[nodiscard]] std::vector<Region> regions_of(const Place& place);

inline constexpr std::size_t guard_bytes = 32;

/// Blocks of a place's type, in elements: where each starts and how long it is.
struct Piece {
  int start = 0;
  int length = 0;
};
[[nodiscard]] std::vector<Piece> pieces(Shape shape, int elements);
/// Elements from the first to past the last of one copy, with the gap that separates it from the next.
[[nodiscard]] int extent(Shape shape, int elements);
[[nodiscard]] std::size_t span_bytes(const Place& place, Base base);

}  // namespace penstock::differential
