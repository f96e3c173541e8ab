#include "tests/differential/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/support/random.hpp"

namespace penstock::differential {

std::vector<Piece> pieces(Shape shape, int elements) {
  if (elements == 0) return {};
  if (shape == Shape::contiguous) return {{0, elements}};
  std::vector<Piece> result;
  if (shape == Shape::vector) {
    // equal rows; the row length is the largest small divisor
    int row = 1;
    for (const int candidate : {2, 3, 8, 16, 128}) {
      if (elements % candidate == 0) row = candidate;
    }
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
  const Piece last = pieces(shape, elements).back();
  return last.start + last.length + 2;
}

std::size_t span_bytes(const Place& place, Base base) {
  return static_cast<std::size_t>(place.copies) *
         static_cast<std::size_t>(extent(place.shape, place.elements_each)) * size_of(base);
}

std::size_t element_bytes(Reduction reduction) {
  switch (reduction) {
    case Reduction::bool_lxor:
      return 1;
    case Reduction::int_sum:
      return 4;
    case Reduction::complex_product:
    case Reduction::double_int_maxloc:
      return 16;
    default:
      return 8;
  }
}

Gap gap_of(Reduction reduction) {
  if (reduction == Reduction::short_int_minloc) return {2, 4};
  if (reduction == Reduction::double_int_maxloc) return {12, 16};
  return {};
}

bool is_reduction(CollectiveCall call) {
  return call >= CollectiveCall::reduce;
}

const char* name_of(CollectiveCall call) {
  constexpr std::array names = {"barrier",
                                "bcast",
                                "gather",
                                "gatherv",
                                "scatter",
                                "scatterv",
                                "allgather",
                                "allgatherv",
                                "alltoall",
                                "alltoallv",
                                "alltoallw",
                                "neighbor_allgather",
                                "neighbor_alltoall",
                                "reduce",
                                "allreduce",
                                "reduce_scatter",
                                "reduce_scatter_block",
                                "scan",
                                "exscan"};
  static_assert(names.size() == static_cast<std::size_t>(CollectiveCall::count_));
  return names.at(static_cast<std::size_t>(call));
}

std::string describe(const Message& message) {
  return fmt::format(
      "rank {} -> rank {} on communicator {}, tag {}, {} elements of {} bytes, {} -> {}{}{}{}{}",
      message.source, message.destination, message.communicator, message.tag, message.send.elements(),
      size_of(message.base), name_of(message.send.region.kind), name_of(message.receive.region.kind),
      message.any_source ? ", any source" : "", message.any_tag ? ", any tag" : "",
      message.send_request >= 0 ? ", persistent send" : "",
      message.receive_request >= 0 ? ", persistent receive" : "");
}

std::string describe(const Collective& collective) {
  std::string kinds;
  for (const auto& member : collective.members) {
    kinds += fmt::format(" {}->{}", name_of(member.send.kind), name_of(member.receive.kind));
  }
  return fmt::format("{}{} on communicator {}, root {}, counts {}{},{}", collective.blocking ? "" : "i",
                     name_of(collective.call), collective.communicator, collective.root,
                     fmt::join(collective.counts, "/"), collective.in_place ? ", in place" : "", kinds);
}

}  // namespace penstock::differential
