// A road for payloads between two GPU buffers of one node, as the interposer and the benchmarks see it. The
// receiver pulls: it picks a road for an offer and drives a Pull until it has arrived. Knows no MPI call.
// To add a road: one file that derives from Transport, one row in the chooser's table.
#pragma once

#include <cstdint>
#include <memory>

#include "transports/copies/pull.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// Numbers as in the trace format. `network` is not the chooser's: it starts from another node.
enum class Road : std::uint8_t { none, mpi, local, peer, staged, relayed, striped, pushed, network };
[[nodiscard]] const char* name_of(Road road) noexcept;

/// Whether a road can carry a message; `reason` is a literal either way ("peer access is off", …), empty
/// where the road was never meant for it.
struct Verdict {
  bool accepted = false;
  const char* reason = "";
  bool needs_sender = false;  ///< accepted, but the sender has to begin on this road first
};

class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual Road road() const noexcept = 0;
  [[nodiscard]] virtual Verdict accepts(const Offer& offer, const Place& destination) const noexcept = 0;
  /// Begins to pull. `declined` as long as no byte has moved: the caller takes the next road.
  [[nodiscard]] virtual Status start(const Offer& offer, const Place& destination,
                                     std::unique_ptr<Pull>& pull) noexcept = 0;
};

/// A road and why it was taken (a literal).
struct Choice {
  Transport* transport = nullptr;  ///< null: the sender has to begin, or no road is open at all
  const char* reason = "";
  Road wanted = Road::none;  ///< what to ask the sender for then: `pushed`, `relayed` or `staged`
};

/// Picks the road for an offer among those that accept it. `excluded` is a bit set of (1 << Road) that were
/// tried and declined. Thread: any. Honours force_road().
[[nodiscard]] Choice choose(const Offer& offer, const Place& destination, unsigned excluded = 0) noexcept;

/// Only this road from now on (`none`: free choice); what it cannot carry is staged. For PENSTOCK_ROAD.
void force_road(Road road) noexcept;

}  // namespace penstock::transports
