// The pushed transport, for payloads from pinned host memory: no other process can map that, but the sender's
// GPU can reach both it and, by CUDA IPC, the receiver's buffer. So the receiver offers its buffer, and the
// sender's copy engine writes the payload there at the speed of PCIe, without a stop in between. Both halves.
#include "transports/copies/copy.hpp"
#include "transports/host/guarded.hpp"
#include "transports/push_send.hpp"
#include "transports/reach.hpp"
#include "transports/transport_table.hpp"

namespace penstock::transports {
namespace {

Verdict judge(const Payload& payload) {
  const Offer& offer = payload.offer;
  const Place& destination = payload.destination;
  // refusals without a reason leave it to what the other transports have to say
  if (payload.is_own() || offer.payload_bytes == 0) return {false, ""};
  if (lives_on_device(offer.kind) || offer.region.descriptor >= 0) return {false, ""};
  if (!lives_on_device(destination.buffer.kind)) return {false, "both sides are host memory"};
  if (offer.kind != BufferKind::pinned) return {false, "sender's memory is pageable"};
  if (offer.contiguous == 0) return {false, "sender's payload is not contiguous"};
  if (!destination.layout.is_contiguous()) return {false, "receiver's layout is not contiguous"};
  const char* why_not = "";
  if (describe(destination, &why_not).ipc_exported == 0)
    return {false, "receiver's memory cannot be exported"};
  return {true, "by the sender's GPU from its pinned memory", true};
}

class PushedTransport final : public Transport {
 public:
  [[nodiscard]] TransportKind kind() const noexcept override { return TransportKind::pushed; }

  [[nodiscard]] Verdict accepts(const Payload& payload) const override { return judge(payload); }

  [[nodiscard]] Status start(const Payload& /*payload*/, std::unique_ptr<Pull>& /*pull*/) noexcept override {
    return {Code::declined, "a payload that its sender has to push"};
  }
};

class CopyPush final : public PushSend {
 public:
  CopyPush(const Place& source, ReachedMemory target, cuda::ContextRef context)
      : source_(source), target_(std::move(target)), context_(std::move(context)) {}
  ~CopyPush() override {
    if (in_flight_) static_cast<void>(copied_.wait());
  }

  /// An error means that no byte will move.
  [[nodiscard]] Status begin() noexcept {
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    CUstream stream = nullptr;
    if (Status taken = cuda::Context::take_event(context_, copied_); !taken.ok()) return taken;
    if (Status made = context_->next_pull_stream(stream); !made.ok()) return made;
    LayoutCursor cursor(source_.layout);
    if (Status copy = copy_out(reinterpret_cast<void*>(target_.first), Side::device, source_, cursor,
                               source_.layout.bytes(), stream);
        !copy.ok()) {
      return copy;
    }
    failure_ = copied_.record(stream);
    in_flight_ = failure_.ok();
    return {};
  }

  [[nodiscard]] Status advance(bool& arrived) noexcept override {
    arrived = false;
    if (failure_.ok()) failure_ = copied_.query(arrived);
    if (arrived || !failure_.ok()) in_flight_ = false;
    return failure_;
  }

 private:
  Place source_;
  ReachedMemory target_;
  cuda::ContextRef context_;
  cuda::Event copied_;
  Status failure_;
  bool in_flight_ = false;
};

}  // namespace

Transport& pushed_transport() noexcept {
  static PushedTransport transport;
  return transport;
}

Status PushSend::start(const Place& source, const Offer& published,
                       std::unique_ptr<PushSend>& send) noexcept {
  return guarded([&]() -> Status {
    const Payload payload(published, source);  // the other way round: the receiver's buffer is reached
    const Offer& target = payload.offer;
    if (!source.layout.is_contiguous() || target.payload_bytes != source.layout.bytes() ||
        target.ipc_exported == 0) {
      return {Code::peer_lost, "receiver's word on its buffer"};
    }
    if (!payload.reach().accepted) return {Code::declined, payload.reach().reason};
    ReachedMemory memory;
    if (Status reached = reach(payload, target.payload_bytes, memory); !reached.ok()) return reached;
    auto made = std::make_unique<CopyPush>(source, memory, payload.context());
    Status begun = made->begin();
    if (begun.ok()) {
      send = std::move(made);
      return begun;
    }
    cuda::IpcCache::of_process().drop(memory.mapped);
    return {Code::declined, begun.where(), begun.detail()};
  });
}

}  // namespace penstock::transports
