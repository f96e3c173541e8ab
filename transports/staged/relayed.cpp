// The receiver's half of the relayed transport; staged_send.cpp is the sender's. It serves memory that other
// processes cannot map (async pools, cuMemMap, managed memory) and layouts in pieces. The sender copies its
// payload chunk by chunk into a ring in its own device's memory, at the speed of that memory; the receiver's
// copy engine pulls each chunk from there over NVLink or PCIe.
#include "transports/host/guarded.hpp"
#include "transports/ipc/reach.hpp"
#include "transports/regions/region_pool.hpp"
#include "transports/regions/region_pull.hpp"
#include "transports/transport_table.hpp"

namespace penstock::transports {
namespace {

Verdict judge_relayed(const Payload& payload) {
  const Offer& offer = payload.offer;
  // a refusal without a reason keeps the reason of a better transport
  if (payload.is_own() || offer.payload_bytes == 0) return {false, ""};
  if (!lives_on_device(offer.kind)) return {false, ""};
  const bool has_begun = offer.ring_bytes != 0;
  if (offer.region.descriptor >= 0 && !has_begun) return {false, ""};
  Verdict verdict = judge_reach(payload);
  if (verdict.accepted && payload.destination.buffer.kind == BufferKind::pageable) {
    // the driver would stage for it while the caller waits: the staged transport does that better
    return {false, "receiver's memory is pageable"};
  }
  verdict.needs_sender = !has_begun;
  return verdict;
}

class RelayedTransport final : public Transport {
 public:
  [[nodiscard]] TransportKind kind() const noexcept override { return TransportKind::relayed; }

  [[nodiscard]] Verdict accepts(const Payload& payload) const override { return judge_relayed(payload); }

  [[nodiscard]] Status start(const Payload& payload, std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      const Offer& offer = payload.offer;
      if (offer.ring_bytes == 0) return {Code::declined, "the sender does not relay its payload"};
      ReachedMemory memory;
      if (Status reached = reach(payload, offer.ring_bytes, memory); !reached.ok()) return reached;
      RingSource source;
      source.ring = {reinterpret_cast<char*>(memory.first), offer.ring_bytes, Side::device};
      source.keeper = memory.mapped;
      if (Status opened = RegionCache::of_process().open(offer, source.region); !opened.ok()) return opened;
      return RegionPull::start(offer, payload.destination, std::move(source), payload.context(), pull);
    });
  }
};

}  // namespace

Transport& relayed_transport() noexcept {
  static RelayedTransport transport;
  return transport;
}

}  // namespace penstock::transports
