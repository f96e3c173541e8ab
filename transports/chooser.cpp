// The chooser: the roads in order of preference, one row each. The first that accepts is taken.
#include <array>
#include <atomic>

#include "transports/roads.hpp"

namespace penstock::transports {
namespace {

struct Row {
  Transport& (*transport)() noexcept;
  bool at_the_senders_expense;  ///< then the reason for it is why no better road would do
  std::uint64_t least_bytes;    ///< of a payload, unless the road is forced
};

/// Below it the way through host memory is as fast, and frees the sender earlier.
constexpr std::uint64_t least_asked_bytes = 64u << 10;

/// Staged comes last: it carries everything.
constexpr std::array table{Row{&local_road, false, 0},
                           Row{&striped_road, false, 0},
                           Row{&peer_road, false, 0},
                           Row{&relayed_road, true, least_asked_bytes},
                           Row{&pushed_road, false, least_asked_bytes},
                           Row{&staged_road, true, 0}};

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
    case Road::relayed:
      return "relayed";
    case Road::striped:
      return "striped";
    case Road::pushed:
      return "pushed";
  }
  return "none";
}

void force_road(Road road) noexcept {
  forced.store(road, std::memory_order_relaxed);
}

Choice choose(const Offer& offer, const Place& destination, unsigned excluded) noexcept {
  const Road only = forced.load(std::memory_order_relaxed);
  // the refusal of the last better road that could have been meant for the payload
  const char* why_no_better = only == Road::none ? "" : "the road that is forced cannot carry it";
  for (const Row& row : table) {
    Transport& transport = row.transport();
    const Road road = transport.road();
    const bool is_forced = road == only;
    if (only != Road::none && !is_forced && road != Road::staged) continue;
    if (!is_forced && offer.payload_bytes < row.least_bytes) continue;
    const Verdict verdict = transport.accepts(offer, destination);
    if (!verdict.accepted) {
      if (*verdict.reason != '\0') why_no_better = verdict.reason;
    } else if ((excluded & bit(road)) != 0) {
      why_no_better = "the better road was tried and declined";
    } else {
      const char* why = row.at_the_senders_expense ? why_no_better : verdict.reason;
      const char* reason = is_forced ? "forced by PENSTOCK_ROAD" : why;
      if (verdict.needs_sender) return {nullptr, reason, road};
      return {&transport, reason};
    }
  }
  return {nullptr, why_no_better};
}

}  // namespace penstock::transports
