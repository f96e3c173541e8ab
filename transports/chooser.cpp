// The chooser: the transports in order of preference, one row each. The first that accepts, and is worth
// while by the figures in force, is taken.
#include <array>
#include <atomic>

#include "transports/host/guarded.hpp"
#include "transports/reach.hpp"
#include "transports/transport_table.hpp"
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
  bool at_the_senders_expense;  ///< then the reason for it is why no better transport would do
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
constexpr std::array table{Row{&local_transport, false, nullptr},
                           Row{&striped_transport, false, beats_host_memory, host_is_faster},
                           Row{&peer_transport, false, beats_host_memory, host_is_faster},
                           Row{&relayed_transport, true, is_worth_relaying},
                           Row{&pushed_transport, false, is_worth_pushing},
                           Row{&staged_transport, true, nullptr}};

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

std::atomic<TransportKind> forced{TransportKind::none};

constexpr unsigned bit(TransportKind transport) noexcept {
  return 1u << static_cast<unsigned>(transport);
}

}  // namespace

const char* name_of(TransportKind transport) noexcept {
  switch (transport) {
    case TransportKind::none:
      return "none";
    case TransportKind::mpi:
      return "mpi";
    case TransportKind::local:
      return "local";
    case TransportKind::peer:
      return "peer";
    case TransportKind::staged:
      return "staged";
    case TransportKind::relayed:
      return "relayed";
    case TransportKind::striped:
      return "striped";
    case TransportKind::pushed:
      return "pushed";
    case TransportKind::network:
      return "network";
  }
  return "none";
}

void force_transport(TransportKind transport) noexcept {
  forced.store(transport, std::memory_order_relaxed);
}

Choice choose(const Offer& offer, const Place& destination, unsigned excluded) noexcept {
  const TransportKind only = forced.load(std::memory_order_relaxed);
  // the refusal of the last better transport that could have been meant for the payload
  const char* why_no_better =
      only == TransportKind::none ? "" : "the transport that is forced cannot carry it";
  const Payload payload{offer.payload_bytes, tuning(), link_of(offer, destination),
                        is_between_devices(offer, destination)};
  for (const Row& row : table) {
    Transport& transport = row.transport();
    const TransportKind kind = transport.kind();
    const bool is_forced = kind == only;
    if (only != TransportKind::none && !is_forced && kind != TransportKind::staged) continue;
    const bool is_worth = is_forced || row.is_worth_while == nullptr || row.is_worth_while(payload);
    if (!is_worth && *row.why_not_worth_while == '\0') continue;
    const Verdict verdict = transport.accepts(offer, destination);
    if (!verdict.accepted) {
      if (*verdict.reason != '\0') why_no_better = verdict.reason;
    } else if (!is_worth) {
      why_no_better = row.why_not_worth_while;
    } else if ((excluded & bit(kind)) != 0) {
      why_no_better = "the better transport was tried and declined";
    } else {
      const char* why = row.at_the_senders_expense ? why_no_better : verdict.reason;
      const char* reason = is_forced ? "forced by PENSTOCK_TRANSPORT" : why;
      if (verdict.needs_sender) return {nullptr, reason, kind};
      return {&transport, reason};
    }
  }
  return {nullptr, why_no_better};
}

}  // namespace penstock::transports
