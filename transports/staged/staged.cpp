// The receiver's half of the staged transport (staged_send.hpp): copies the sender's region of host memory →
// destination.
#include "transports/copies/copy_pull.hpp"
#include "transports/host/guarded.hpp"
#include "transports/regions/region_pool.hpp"
#include "transports/regions/region_pull.hpp"
#include "transports/staged/whole_region_pull.hpp"
#include "transports/transport_table.hpp"

namespace penstock::transports {
namespace {

class StagedTransport final : public Transport {
 public:
  [[nodiscard]] TransportKind kind() const noexcept override { return TransportKind::staged; }

  [[nodiscard]] Verdict accepts(const Payload& payload) const override {
    const bool has_begun = payload.offer.region.descriptor >= 0 && payload.offer.ring_bytes == 0;
    return {true, "through shared host memory", !has_begun};
  }

  [[nodiscard]] Status start(const Payload& payload, std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      const Offer& offer = payload.offer;
      const BufferView& destination = payload.destination;
      if (offer.payload_bytes ==
          0) {  // the sender does not wait for this receive: the region may already serve another
        pull = std::make_unique<CopyPull>(CopySource{}, destination, nullptr);
        return {};
      }
      cuda::ContextRef context;
      if (lives_on_device(destination.buffer.kind)) {
        context = payload.context();
        if (context == nullptr) return cuda::no_driver();
      }
      RingSource source;
      if (Status opened = RegionCache::of_process().open(offer, source.region); !opened.ok()) return opened;
      source.ring = source.region->ring();
      if (source.ring.bytes == 0) return {Code::peer_lost, "sender's staging region"};
      if (WholeRegionPull::suits(offer, destination, source, context)) {
        auto whole =
            std::make_unique<WholeRegionPull>(offer, destination, std::move(source), std::move(context));
        Status begun = whole->begin();
        if (begun.ok()) pull = std::move(whole);
        return begun;
      }
      return RegionPull::start(offer, destination, std::move(source), std::move(context), pull);
    });
  }
};

}  // namespace

Transport& staged_transport() noexcept {
  static StagedTransport transport;
  return transport;
}

}  // namespace penstock::transports
