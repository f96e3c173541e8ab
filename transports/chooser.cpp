// The chooser: the roads in order of preference, one row each. The first that accepts, and is worth while by
// the figures in force, is taken.
#include <array>
#include <atomic>

#include "transports/host/guarded.hpp"
#include "transports/reach.hpp"
#include "transports/roads.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {
namespace {

struct Payload {
  std::uint64_t bytes;
  const Tuning& figures;
  cuda::Link link;          ///< between its source and its destination, if both lie on devices
  bool is_between_devices;  ///< they do
};

struct Row {
  Transport& (*transport)() noexcept;
  bool at_the_senders_expense;  ///< then the reason for it is why no better road would do
  bool (*is_worth_while)(const Payload& payload) noexcept;  ///< null: always; not asked if it is forced
  const char* why_not_worth_while = "";                     ///< empty: not meant for such payloads
};

bool beats_host_memory(const Payload& payload) noexcept {
  return payload.bytes < payload.figures.of(payload.link).staged_from;
}
bool is_worth_relaying(const Payload& payload) noexcept {
  const std::uint64_t from = payload.is_between_devices ? payload.figures.of(payload.link).relayed_from
                                                        : payload.figures.pushed_from;
  return payload.bytes >= from && beats_host_memory(payload);
}
bool is_worth_pushing(const Payload& payload) noexcept {
  return payload.bytes >= payload.figures.pushed_from;
}

/// Staged comes last: it carries everything.
constexpr const char* host_is_faster = "host memory carries so much faster than peer access here";
constexpr std::array table{Row{&local_road, false, nullptr},
                           Row{&striped_road, false, beats_host_memory, host_is_faster},
                           Row{&peer_road, false, beats_host_memory, host_is_faster},
                           Row{&relayed_road, true, is_worth_relaying},
                           Row{&pushed_road, false, is_worth_pushing},
                           Row{&staged_road, true, nullptr}};

bool is_between_devices(const Offer& offer, const Place& destination) noexcept {
  return lives_on_device(offer.kind) && lives_on_device(destination.buffer.kind);
}

/// One device where either side is host memory: then a GPU reads or writes its own memory only.
cuda::Link link_of(const Offer& offer, const Place& destination) noexcept {
  cuda::Link link = cuda::Link::same_device;
  if (!is_between_devices(offer, destination)) return link;
  static_cast<void>(guarded([&]() -> Status {
    link = cuda::link_between(destination.buffer.device, sender_device(offer));
    return {};
  }));
  return link;
}

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
    case Road::network:
      return "network";
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
  const Payload payload{offer.payload_bytes, tuning(), link_of(offer, destination),
                        is_between_devices(offer, destination)};
  for (const Row& row : table) {
    Transport& transport = row.transport();
    const Road road = transport.road();
    const bool is_forced = road == only;
    if (only != Road::none && !is_forced && road != Road::staged) continue;
    const bool is_worth = is_forced || row.is_worth_while == nullptr || row.is_worth_while(payload);
    if (!is_worth && *row.why_not_worth_while == '\0') continue;
    const Verdict verdict = transport.accepts(offer, destination);
    if (!verdict.accepted) {
      if (*verdict.reason != '\0') why_no_better = verdict.reason;
    } else if (!is_worth) {
      why_no_better = row.why_not_worth_while;
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
