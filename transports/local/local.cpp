// The local transport: sender and receiver are threads of one process (or one thread that sends to itself),
// so the payload is copied from where it lies. A process cannot open its own IPC handles.
#include "transports/copy_selection/start_copy.hpp"
#include "transports/host/guarded.hpp"
#include "transports/small/kernel_pull.hpp"
#include "transports/transport_table.hpp"

namespace penstock::transports {
namespace {

/// True for device memory of two contexts. Managed memory is reached from any context.
bool needs_peer_copy(const Buffer& source, const Buffer& destination) noexcept {
  return belongs_to_context(source.kind) && belongs_to_context(destination.kind) &&
         source.context != destination.context;
}

/// Returns whether a kernel can copy the pieces; both buffers must be of one context.
bool can_copy_pieces(const Payload& payload) {
  const Offer& offer = payload.offer;
  const Buffer& destination = payload.destination.buffer;
  if (offer.strided == 0 || !belongs_to_context(offer.kind) || !lives_on_device(destination.kind))
    return false;
  const Buffer source = inspect(reinterpret_cast<const void*>(offer.address));
  // some absolute addresses may be in another allocation, even in host memory
  return offer.extent() != 0 && source.holds(0, offer.extent()) && !needs_peer_copy(source, destination) &&
         can_copy_by_kernel(payload.destination, cuda::Context::of(destination));
}

class LocalTransport final : public Transport {
 public:
  [[nodiscard]] TransportKind kind() const noexcept override { return TransportKind::local; }

  [[nodiscard]] Verdict accepts(const Payload& payload) const override {
    const Offer& offer = payload.offer;
    const BufferView& destination = payload.destination;
    if (!payload.is_own()) return {false, "sender is another process"};
    if (offer.contiguous == 0 && !can_copy_pieces(payload))
      return {false, "sender's payload is not contiguous"};
    if (!destination.layout.is_contiguous() &&
        needs_peer_copy(inspect(reinterpret_cast<const void*>(offer.address)), destination.buffer)) {
      return {false, "receiver's layout is not contiguous, and the sender's device is another"};
    }
    return {true, "same process"};
  }

  [[nodiscard]] Status start(const Payload& payload, std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      const Offer& offer = payload.offer;
      const BufferView& destination = payload.destination;
      const auto* pointer = reinterpret_cast<const void*>(offer.address);
      const Buffer buffer = inspect(pointer);
      if (buffer.buffer_id != offer.buffer_id)
        return {Code::bad_argument, "a sender's buffer that was freed"};
      CopySource source{pointer, offer.payload_bytes};
      source.side = lives_on_device(buffer.kind) ? Side::device : Side::host;
      source.is_managed = buffer.kind == BufferKind::managed;
      if (offer.strided != 0) source.loops = offer.loops;
      cuda::ContextRef context;
      // managed memory is reached from every context, another device's pool memory only from its own
      if (lives_on_device(destination.buffer.kind) &&
          (destination.buffer.kind != BufferKind::managed || source.side == Side::host)) {
        context = cuda::Context::of(destination.buffer);
        if (needs_peer_copy(buffer, destination.buffer)) source.context = buffer.context;
      } else if (source.side == Side::device) {
        context = cuda::Context::of(buffer);
      }
      const bool needs_cuda = source.side == Side::device || lives_on_device(destination.buffer.kind);
      if (needs_cuda && context == nullptr) return {Code::declined, "this process has no CUDA context"};
      Status started = start_copy(source, destination, context, pull);
      if (started.code() != Code::cuda_failed) return started;
      return {Code::declined, started.where(), started.detail()};
    });
  }
};

}  // namespace

Transport& local_transport() noexcept {
  static LocalTransport transport;
  return transport;
}

}  // namespace penstock::transports
