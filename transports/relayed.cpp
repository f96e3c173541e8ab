// The relayed transport, for memory that other processes cannot map (async pools, cuMemMap, managed memory)
// and for layouts in pieces: the sender copies its payload chunk by chunk into a ring in its own device's
// memory, at the speed of that memory, and the receiver's copy engine pulls each chunk from there over NVLink
// or PCIe. This is the receiver's half; staged_send.cpp is the sender's.
#include "transports/host/guarded.hpp"
#include "transports/reach.hpp"
#include "transports/regions/region_pool.hpp"
#include "transports/regions/region_pull.hpp"
#include "transports/transport_table.hpp"

namespace penstock::transports {
namespace {

Verdict judge(const Offer& offer, const Place& destination) {
  // refusals without a reason leave it to what the better transports had to say
  if (sender_of(offer) == this_process() || offer.payload_bytes == 0) return {false, ""};
  if (!lives_on_device(offer.kind)) return {false, ""};
  const bool has_begun = offer.ring_bytes != 0;
  if (offer.region.descriptor >= 0 && !has_begun) return {false, ""};
  Verdict verdict = judge_reach(offer, destination);
  if (verdict.accepted && destination.buffer.kind == BufferKind::pageable) {
    // the driver would stage for it, and the caller wait: the staged transport does that better
    return {false, "receiver's memory is pageable"};
  }
  verdict.needs_sender = !has_begun;
  return verdict;
}

class RelayedTransport final : public Transport {
 public:
  [[nodiscard]] TransportKind kind() const noexcept override { return TransportKind::relayed; }

  [[nodiscard]] Verdict accepts(const Offer& offer, const Place& destination) const noexcept override {
    return guarded_verdict(judge, offer, destination);
  }

  [[nodiscard]] Status start(const Offer& published, const Place& destination,
                             std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      const Offer offer = published;  // checked and used in one state, whatever its owner does to it
      if (offer.ring_bytes == 0) return {Code::declined, "the sender does not relay its payload"};
      const cuda::ContextRef context = context_to_reach(offer, destination);
      if (context == nullptr) return {Code::declined, "this process has no CUDA context"};
      ReachedMemory memory;
      if (Status reached = reach(offer, offer.ring_bytes, context, memory); !reached.ok()) return reached;
      RingSource source;
      source.ring = {reinterpret_cast<char*>(memory.first), offer.ring_bytes, Side::device};
      source.keeper = memory.mapped;
      if (Status opened = RegionCache::of_process().open(offer, source.region); !opened.ok()) return opened;
      return RegionPull::start(offer, destination, std::move(source), context, pull);
    });
  }
};

}  // namespace

Transport& relayed_transport() noexcept {
  static RelayedTransport transport;
  return transport;
}

}  // namespace penstock::transports
