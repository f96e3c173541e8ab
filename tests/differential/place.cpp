#include "tests/differential/place.hpp"

#include <algorithm>

#include "tests/support/random.hpp"

namespace penstock::differential {

std::vector<Region> regions_of(const Place& place) {
  if (place.shape != Shape::absolute) return {place.region};
  std::vector<Region> regions;
  for (const Part& part : place.parts) regions.push_back(part.region);
  return regions;
}

namespace {

/// Returns the length of the equal rows of a vector: the largest small divisor.
int row_length(int elements) {
  int row = 1;
  for (const int candidate : {2, 3, 8, 16, 128}) {
    if (elements % candidate == 0) row = candidate;
  }
  return row;
}

}  // namespace

std::vector<Piece> pieces(Shape shape, int elements) {
  if (elements == 0) return {};
  if (shape == Shape::contiguous) return {{0, elements}};
  std::vector<Piece> result;
  if (shape == Shape::vector) {
    const int row = row_length(elements);
    result.reserve(static_cast<std::size_t>(elements / row));
    for (int at = 0; at < elements; at += row) result.push_back({at * 2, row});
    return result;
  }
  // irregular, from the size alone so that both sides and every rank agree
  test_support::Random random(static_cast<std::uint64_t>(elements) * 4 + static_cast<std::uint64_t>(shape));
  const int most = shape == Shape::structure ? 3 : 40;
  const int typical = std::max(1, elements / most);
  int start = random.between(0, 3);
  for (int left = elements; left > 0;) {
    const bool last = static_cast<int>(result.size()) + 1 == most;
    const int length = last ? left : std::min(left, random.between(1, 2 * typical));
    result.push_back({start, length});
    start += length + random.between(1, 5);
    left -= length;
  }
  return result;
}

int extent(Shape shape, int elements) {
  if (elements == 0) return 0;
  if (shape == Shape::contiguous) return elements;
  if (shape == Shape::vector) return 2 * elements - row_length(elements) + 2;  // asked for very often
  const Piece last = pieces(shape, elements).back();
  return last.start + last.length + 2;
}

std::size_t span_bytes(const Place& place, Base base) {
  return static_cast<std::size_t>(place.copies) *
         static_cast<std::size_t>(extent(place.shape, place.elements_each)) * size_of(base);
}

}  // namespace penstock::differential
