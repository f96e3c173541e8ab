// The chooser: the roads in order of preference, one row each. The first that accepts is taken.
#include <array>
#include <atomic>

#include "transports/roads.hpp"

namespace penstock::transports {
namespace {

/// Staged comes last: it carries everything, but only at the sender's expense and on request.
constexpr std::array<Transport& (*)() noexcept, 3> table{&local_road, &peer_road, &staged_road};

std::atomic<Road> forced{Road::none};

constexpr unsigned bit(Road road) noexcept {
  return 1u << static_cast<unsigned>(road);
}

}  // namespace

const char* name_of(Road road) noexcept {
  switch (road) {
    case Road::none:
      return "none";
    case Road::mpi:
      return "mpi";
    case Road::local:
      return "local";
    case Road::peer:
      return "peer";
    case Road::staged:
      return "staged";
  }
  return "none";
}

void force_road(Road road) noexcept {
  forced.store(road, std::memory_order_relaxed);
}

Choice choose(const Offer& offer, const Place& destination, unsigned excluded) noexcept {
  const Road only = forced.load(std::memory_order_relaxed);
  // Why the payload has to be staged: the refusal of the last better road that could have been meant for it.
  const char* why_staged = "";
  for (const auto row : table) {
    Transport& transport = row();
    const Road road = transport.road();
    const Verdict verdict = transport.accepts(offer, destination);
    if (road == Road::staged) {
      if (only == Road::staged) why_staged = "forced by PENSTOCK_ROAD";
      return {verdict.accepted && (excluded & bit(road)) == 0 ? &transport : nullptr, why_staged};
    }
    if (only != Road::none && only != road) continue;
    const bool was_tried = (excluded & bit(road)) != 0;
    if (verdict.accepted && !was_tried) {
      return {&transport, only == road ? "forced by PENSTOCK_ROAD" : verdict.reason};
    }
    if (verdict.accepted) {
      why_staged = "the better road was tried and declined";
    } else if (*verdict.reason != '\0') {
      why_staged = verdict.reason;
    }
  }
  return {nullptr, why_staged};
}

}  // namespace penstock::transports
