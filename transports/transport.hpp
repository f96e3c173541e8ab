// The interface of a transport for payloads between two GPU buffers of one node, for the interposer and the
// benchmarks. The receiver pulls: it picks a transport for an offer and steps a Pull until the payload has
// arrived. Knows no MPI call. transports/README.md lists what a new transport needs.
#pragma once

#include <memory>

#include "transports/copies/pull.hpp"
#include "transports/host/status.hpp"
#include "transports/kinds/transport_kind.hpp"
#include "transports/payload.hpp"

namespace penstock::transports {

class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual TransportKind kind() const noexcept = 0;
  /// Errors: std::bad_alloc.
  [[nodiscard]] virtual Verdict accepts(const Payload& payload) const = 0;
  /// Begins to pull. Errors: `declined` as long as no byte has moved: the caller takes the next transport.
  [[nodiscard]] virtual Status start(const Payload& payload, std::unique_ptr<Pull>& pull) noexcept = 0;
};

/// A transport and why it was taken (a literal).
struct Choice {
  Transport* transport = nullptr;  ///< null: the sender has to begin, or no transport is open at all
  const char* reason = "";
  TransportKind wanted =
      TransportKind::none;  ///< what to request from the sender then: `pushed`, `relayed` or `staged`
};

/// Picks the transport for a payload among those that accept it. `excluded`: those that were tried
/// and declined. Honours force_transport(). Thread: any.
[[nodiscard]] Choice choose(const Payload& payload, TransportSet excluded = {}) noexcept;

/// Restricts the choice to this transport from now on (`none`: free choice); payloads that it cannot carry
/// are staged. For PENSTOCK_TRANSPORT.
void force_transport(TransportKind transport) noexcept;

}  // namespace penstock::transports
