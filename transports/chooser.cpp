// The chooser: a table of the transports in order of preference, one row each. The first transport that
// accepts a payload and is worth while by the figures in force is taken.
#include <array>
#include <atomic>
#include <new>

#include "transports/cuda/shared_gpus.hpp"
#include "transports/transport_table.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {
namespace {

/// Returns why a transport is not worth while for a payload; null: it is; empty: it is not meant for such
/// payloads.
using WhyNot = const char* (*)(const Payload& payload) noexcept;

struct Row {
  Transport& (*transport)() noexcept;
  bool at_the_senders_expense;  ///< the reason shown is then why no better transport would do
  WhyNot why_not;               ///< null: always worth while; not called if the transport is forced
};

/// Two processes take turns on the multiprocessors of a GPU, which make the copies within it; copy engines
/// serve both, but only to and from the host. Beside kernels of the other process, 128 KiB take 226 µs within
/// the GPU and 18 through host memory; on an otherwise idle GPU, 12 and 20 (H200).
bool waits_for_its_turn(const Payload& payload) noexcept {
  return payload.is_between_devices() && payload.link() == cuda::Link::same_device &&
         payload.offer.payload_bytes < tuning().shared_gpu_from &&
         (!payload.is_own() || is_on_shared_gpu(payload.destination.buffer));
}
const char* better_not_within_a_gpu(const Payload& payload) noexcept {
  return waits_for_its_turn(payload) ? "a copy within a GPU waits for the kernels of the other rank on it"
                                     : nullptr;
}
const char* host_memory_is_better(const Payload& payload) noexcept {
  if (payload.offer.payload_bytes >= tuning().of(payload.link()).staged_from)
    return "this size is faster through host memory than by peer access here";
  return better_not_within_a_gpu(payload);
}
const char* not_to_be_relayed(const Payload& payload) noexcept {
  const std::uint64_t from =
      payload.is_between_devices() ? tuning().of(payload.link()).relayed_from : tuning().pushed_from;
  return payload.offer.payload_bytes >= from && host_memory_is_better(payload) == nullptr ? nullptr : "";
}
const char* not_to_be_pushed(const Payload& payload) noexcept {
  return payload.offer.payload_bytes >= tuning().pushed_from ? nullptr : "";
}

/// Staged is last because it carries everything.
constexpr std::array table{
    Row{&local_transport, false, better_not_within_a_gpu}, Row{&peer_transport, false, host_memory_is_better},
    Row{&relayed_transport, true, not_to_be_relayed}, Row{&pushed_transport, false, not_to_be_pushed},
    Row{&staged_transport, true, nullptr}};

/// A transport that runs out of memory while it checks cannot carry the payload.
Verdict verdict_of(const Transport& transport, const Payload& payload) noexcept {
  try {
    return transport.accepts(payload);
  } catch (const std::bad_alloc&) {
    return {false, "out of memory"};
  }
}

std::atomic<TransportKind> forced{TransportKind::none};

}  // namespace

void force_transport(TransportKind transport) noexcept {
  forced.store(transport, std::memory_order_relaxed);
}

Choice choose(const Payload& payload, TransportSet excluded) noexcept {
  const TransportKind only = forced.load(std::memory_order_relaxed);
  // the refusal of the last better transport that could have been meant for the payload
  const char* why_no_better = only == TransportKind::none ? "" : "the forced transport cannot carry it";
  for (const Row& row : table) {
    Transport& transport = row.transport();
    const TransportKind kind = transport.kind();
    const bool is_forced = kind == only;
    if (only != TransportKind::none && !is_forced && kind != TransportKind::staged) continue;
    const char* const why_not = is_forced || row.why_not == nullptr ? nullptr : row.why_not(payload);
    if (why_not != nullptr && *why_not == '\0') continue;
    const Verdict verdict = verdict_of(transport, payload);
    if (!verdict.accepted) {
      if (*verdict.reason != '\0') why_no_better = verdict.reason;
    } else if (why_not != nullptr) {
      why_no_better = why_not;
    } else if (excluded.holds(kind)) {
      why_no_better = "a better transport was tried, but could not carry it";
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
