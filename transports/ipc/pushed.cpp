// The pushed transport, both halves, for payloads in pinned host memory. No other process can map such
// memory, but the sender's GPU can reach both it and, by CUDA IPC, the receiver's buffer. The receiver offers
// its buffer, and the sender's GPU writes the payload there at the speed of PCIe, without an intermediate
// copy. Payloads in device memory are pushed only to receives that are posted before (interpose/posted).
#include "transports/copies/copy_pull.hpp"
#include "transports/copy_selection/start_copy.hpp"
#include "transports/host/guarded.hpp"
#include "transports/ipc/push_send.hpp"
#include "transports/ipc/reach.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/transport_table.hpp"

namespace penstock::transports {
namespace {

Verdict judge_pushed(const Payload& payload) {
  const Offer& offer = payload.offer;
  const BufferView& destination = payload.destination;
  // a refusal without a reason keeps the reason of another transport
  if (payload.is_own() || offer.payload_bytes == 0) return {false, ""};
  if (lives_on_device(offer.kind) || offer.region.descriptor >= 0) return {false, ""};
  if (!lives_on_device(destination.buffer.kind)) return {false, "both sides are host memory"};
  if (offer.kind != BufferKind::pinned) return {false, "sender's memory is pageable"};
  if (offer.contiguous == 0) return {false, "sender's payload is not contiguous"};
  if (!destination.layout.is_contiguous()) return {false, "receiver's layout is not contiguous"};
  const char* why_not = "";
  if (make_offer(destination, &why_not).ipc_exported == 0)
    return {false, "receiver's memory cannot be exported"};
  return {true, "by the sender's GPU from its pinned memory", true};
}

class PushedTransport final : public Transport {
 public:
  [[nodiscard]] TransportKind kind() const noexcept override { return TransportKind::pushed; }

  [[nodiscard]] Verdict accepts(const Payload& payload) const override { return judge_pushed(payload); }

  [[nodiscard]] Status start(const Payload& /*payload*/, std::unique_ptr<Pull>& /*pull*/) noexcept override {
    return {Code::declined, "a payload that its sender has to push"};
  }
};

/// By a copy engine whatever the size, as that signals its end without the processor.
Status start_from_device(const CopySource& from, const BufferView& to, const cuda::ContextRef& context,
                         std::unique_ptr<Pull>& push) {
  auto made = std::make_unique<CopyPull>(from, to, context);
  Status started = made->start();
  if (started.ok()) push = std::move(made);
  return started;
}

}  // namespace

Transport& pushed_transport() noexcept {
  static PushedTransport transport;
  return transport;
}

Status start_push(const BufferView& source, const Offer& published, std::unique_ptr<Pull>& push) noexcept {
  return guarded([&]() -> Status {
    const Payload payload(published, source);  // in the other direction: the receiver's buffer is reached
    const Offer& target = payload.offer;
    const std::size_t bytes = source.layout.bytes();
    if (!source.layout.is_contiguous() || target.payload_bytes != bytes || target.ipc_exported == 0)
      return {Code::peer_lost, "receiver's description of its buffer"};
    if (const Verdict& verdict = judge_reach(payload); !verdict.accepted)
      return {Code::declined, verdict.reason};
    // The driver may wait for the application's kernels before it maps or unmaps anything. They may wait for
    // what the application does after its call.
    if (!is_idle(source) && !is_reached(payload))
      return {Code::declined, "memory that cannot be mapped while the GPU works"};
    ReachedMemory memory;
    if (Status reached = reach(payload, bytes, memory); !reached.ok()) return reached;
    const cuda::ContextRef& context = payload.context();
    const bool is_from_device = lives_on_device(source.buffer.kind);
    const CopySource from{.pointer = source.first_byte(),
                          .bytes = bytes,
                          .side = is_from_device ? Side::device : Side::host,
                          .keeper = memory.mapped,
                          .is_pinned = source.is_pinned_throughout()};
    // the copy waits for work in its own context: what the application has queued for the source
    const BufferView to{.buffer = {.pointer = reinterpret_cast<void*>(memory.first),
                                   .kind = BufferKind::device,
                                   .context = context->handle()},
                        .layout = Layout::contiguous(bytes),
                        .handed_over_ns = source.handed_over_ns,
                        .is_free = !is_from_device};
    Status begun =
        is_from_device ? start_from_device(from, to, context, push) : start_copy(from, to, context, push);
    if (begun.ok()) return begun;
    cuda::IpcCache::of_process().drop(memory.mapped);
    return {Code::declined, begun.where(), begun.detail()};
  });
}

}  // namespace penstock::transports
