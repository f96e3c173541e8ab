#include "tests/differential/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace penstock::differential {

namespace {

std::string kinds_of(const Place& place) {
  std::string kinds = place.shape == Shape::absolute ? "absolute" : "";
  for (const Region& region : regions_of(place))
    kinds += (kinds.empty() ? "" : " ") + std::string(name_of(region.kind));
  return kinds;
}

}  // namespace

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

bool shares_vary(CollectiveCall call) {
  return call == CollectiveCall::gatherv || call == CollectiveCall::scatterv ||
         call == CollectiveCall::allgatherv || call == CollectiveCall::alltoallv ||
         call == CollectiveCall::alltoallw || call == CollectiveCall::reduce_scatter;
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
      "rank {} -> rank {} on communicator {}, tag {}, {} elements of {} bytes, {} -> {}{}{}{}{}{}",
      message.source, message.destination, message.communicator, message.tag, message.send.elements(),
      size_of(message.base), kinds_of(message.send), kinds_of(message.receive),
      message.any_source ? ", any source" : "", message.any_tag ? ", any tag" : "",
      message.send_request >= 0 ? ", persistent send" : "",
      message.receive_request >= 0 ? ", persistent receive" : "", message.is_early ? ", received early" : "");
}

std::string describe(const Collective& collective) {
  std::string kinds;
  for (const auto& member : collective.members) {
    const auto also = [](bool is_absolute, const Region& rest) {
      return is_absolute ? fmt::format("+{}", name_of(rest.kind)) : "";
    };
    kinds +=
        fmt::format(" {}{}->{}{}", name_of(member.send.kind), also(member.send_is_absolute, member.send_rest),
                    name_of(member.receive.kind), also(member.receive_is_absolute, member.receive_rest));
  }
  return fmt::format("{}{} on communicator {}, root {}, counts {}{}{},{}", collective.blocking ? "" : "i",
                     name_of(collective.call), collective.communicator, collective.root,
                     fmt::join(collective.counts, "/"), collective.in_place ? ", in place" : "",
                     collective.has_empty_units ? ", empty units" : "", kinds);
}

}  // namespace penstock::differential
