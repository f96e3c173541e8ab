// The chooser: the transports in order of preference, one row each. The first that accepts, and is worth
// while by the figures in force, is taken.
#include <array>
#include <atomic>
#include <new>

#include "transports/transport_table.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {
namespace {

struct Row {
  Transport& (*transport)() noexcept;
  bool at_the_senders_expense;  ///< then the reason for it is why no better transport would do
  bool (*is_worth_while)(const Payload& payload) noexcept;  ///< null: always; not asked if it is forced
  const char* why_not_worth_while = "";                     ///< empty: not meant for such payloads
};

bool beats_host_memory(const Payload& payload) noexcept {
  return payload.offer.payload_bytes < tuning().of(payload.link()).staged_from;
}
bool is_worth_relaying(const Payload& payload) noexcept {
  const std::uint64_t from =
      payload.is_between_devices() ? tuning().of(payload.link()).relayed_from : tuning().pushed_from;
  return payload.offer.payload_bytes >= from && beats_host_memory(payload);
}
bool is_worth_pushing(const Payload& payload) noexcept {
  return payload.offer.payload_bytes >= tuning().pushed_from;
}

/// Staged comes last: it carries everything.
constexpr const char* host_is_faster = "host memory carries so much faster than peer access here";
constexpr std::array table{Row{&local_transport, false, nullptr},
                           Row{&striped_transport, false, beats_host_memory, host_is_faster},
                           Row{&peer_transport, false, beats_host_memory, host_is_faster},
                           Row{&relayed_transport, true, is_worth_relaying},
                           Row{&pushed_transport, false, is_worth_pushing},
                           Row{&staged_transport, true, nullptr}};

/// A transport that has no memory to find out cannot carry it.
Verdict verdict_of(const Transport& transport, const Payload& payload) noexcept {
  try {
    return transport.accepts(payload);
  } catch (const std::bad_alloc&) {
    return {false, "out of memory"};
  }
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

Choice choose(const Payload& payload, unsigned excluded) noexcept {
  const TransportKind only = forced.load(std::memory_order_relaxed);
  // the refusal of the last better transport that could have been meant for the payload
  const char* why_no_better =
      only == TransportKind::none ? "" : "the transport that is forced cannot carry it";
  for (const Row& row : table) {
    Transport& transport = row.transport();
    const TransportKind kind = transport.kind();
    const bool is_forced = kind == only;
    if (only != TransportKind::none && !is_forced && kind != TransportKind::staged) continue;
    const bool is_worth = is_forced || row.is_worth_while == nullptr || row.is_worth_while(payload);
    if (!is_worth && *row.why_not_worth_while == '\0') continue;
    const Verdict verdict = verdict_of(transport, payload);
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
