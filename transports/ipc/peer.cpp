// Peer access over NVLink or PCIe: the receiver's GPU reads the sender's memory, mapped by CUDA IPC.
// The sender's process takes no part.
#include "transports/copy_selection/start_copy.hpp"
#include "transports/host/guarded.hpp"
#include "transports/ipc/reach.hpp"
#include "transports/small/kernel_pull.hpp"
#include "transports/transport_table.hpp"

namespace penstock::transports {
namespace {

const char* why_not_exported(const Offer& offer) noexcept {
  switch (offer.kind) {
    case BufferKind::async_pool:
      return "sender's memory is from an async pool and cannot be exported";
    case BufferKind::virtual_memory:
      return "sender's memory is mapped by cuMemMap and cannot be exported";
    case BufferKind::managed:
      return "sender's memory is managed and cannot be exported";
    case BufferKind::pinned:
    case BufferKind::pageable:
      return "sender's memory is host memory";
    case BufferKind::device:
    case BufferKind::unknown:
      break;
  }
  return offer.contiguous == 0 && offer.strided == 0 ? "sender's payload is not contiguous"
                                                     : "sender's memory could not be exported";
}

Verdict judge_peer(const Payload& payload) {
  const Offer& offer = payload.offer;
  // a process cannot open its own handles; the local transport reports why it was not taken
  if (payload.is_own()) return {false, ""};
  // the handle in the offer of a relayed payload is the ring's
  if (offer.ipc_exported == 0 || offer.ring_bytes != 0) return {false, why_not_exported(offer)};
  if (offer.strided != 0 && !can_copy_by_kernel(payload.destination, payload.context()))
    return {false, "sender's payload is not contiguous"};
  return judge_reach(payload);
}

class PeerTransport final : public Transport {
 public:
  [[nodiscard]] TransportKind kind() const noexcept override { return TransportKind::peer; }

  [[nodiscard]] Verdict accepts(const Payload& payload) const override { return judge_peer(payload); }

  [[nodiscard]] Status start(const Payload& payload, std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      ReachedMemory memory;
      const std::uint64_t extent = payload.offer.extent();
      if (extent == 0 && payload.offer.payload_bytes != 0) return {Code::peer_lost, "sender's offer"};
      if (Status reached = reach(payload, extent, memory); !reached.ok()) return reached;
      CopySource source{reinterpret_cast<const void*>(memory.first), payload.offer.payload_bytes};
      if (payload.offer.strided != 0) source.loops = payload.offer.loops;
      source.keeper = memory.mapped;
      Status started = start_copy(source, payload.destination, payload.context(), pull);
      if (started.code() != Code::cuda_failed) return started;
      cuda::IpcCache::of_process().drop(memory.mapped);
      return {Code::declined, started.where(), started.detail()};
    });
  }
};

}  // namespace

Transport& peer_transport() noexcept {
  static PeerTransport transport;
  return transport;
}

}  // namespace penstock::transports
