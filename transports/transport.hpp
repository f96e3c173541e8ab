// A transport for payloads between two GPU buffers of one node, as the interposer and the benchmarks see it.
// The receiver pulls: it picks a transport for an offer and drives a Pull until it has arrived. Knows no MPI
// call. To add a transport: one file that derives from Transport, one row in the chooser's table.
#pragma once

#include <cstdint>
#include <memory>

#include "transports/copies/pull.hpp"
#include "transports/host/status.hpp"
#include "transports/payload.hpp"

namespace penstock::transports {

/// Numbers as in the trace format, which has one more: of a transport that is gone. `network` is not the
/// chooser's: it starts from another node.
enum class TransportKind : std::uint8_t { none, mpi, local, peer, staged, relayed, pushed = 7, network };
[[nodiscard]] const char* name_of(TransportKind transport) noexcept;

class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual TransportKind kind() const noexcept = 0;
  /// Errors: std::bad_alloc.
  [[nodiscard]] virtual Verdict accepts(const Payload& payload) const = 0;
  /// Begins to pull. `declined` as long as no byte has moved: the caller takes the next transport.
  [[nodiscard]] virtual Status start(const Payload& payload, std::unique_ptr<Pull>& pull) noexcept = 0;
};

/// A transport and why it was taken (a literal).
struct Choice {
  Transport* transport = nullptr;  ///< null: the sender has to begin, or no transport is open at all
  const char* reason = "";
  TransportKind wanted =
      TransportKind::none;  ///< what to ask the sender for then: `pushed`, `relayed` or `staged`
};

/// Picks the transport for a payload among those that accept it. `excluded` is a bit set of (1 <<
/// TransportKind) that were tried and declined. Thread: any. Honours force_transport().
[[nodiscard]] Choice choose(const Payload& payload, unsigned excluded = 0) noexcept;

/// Only this transport from now on (`none`: free choice); what it cannot carry is staged. For
/// PENSTOCK_TRANSPORT.
void force_transport(TransportKind transport) noexcept;

}  // namespace penstock::transports
