#include "transports/regions/offer.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "transports/device_memory/ipc_export.hpp"

namespace penstock::transports {
namespace {

void describe_memory(const Buffer& buffer, std::ptrdiff_t offset, Offer& offer) {
  offer.address = reinterpret_cast<std::uint64_t>(buffer.pointer) + static_cast<std::uint64_t>(offset);
  offer.buffer_id = buffer.buffer_id;
  offer.range_base = buffer.range_base;
  offer.range_bytes = buffer.range_bytes;
}

void set_device(int device, Offer& offer) {
  const cuda::Uuid uuid = cuda::uuid_of(device);
  std::copy(uuid.begin(), uuid.end(), offer.device_uuid);
}

void set_handle(const CUipcMemHandle& handle, Offer& offer) noexcept {
  std::memcpy(offer.ipc_handle, &handle, sizeof(offer.ipc_handle));
  offer.ipc_exported = 1;
}

void describe_export(const BufferView& source, Offer& offer, const char** why_not) {
  set_device(source.buffer.device, offer);
  if (offer.contiguous == 0 && offer.strided == 0) {
    *why_not = "sender's payload is not contiguous";
    return;
  }
  const cuda::Export exported = cuda::export_range(source.buffer);
  if (exported.why_not != nullptr) {
    *why_not = exported.why_not;
    return;
  }
  const std::uint64_t offset = offer.address - offer.range_base;  // wraps if before the base
  if (offset > offer.range_bytes || offer.extent() > offer.range_bytes - offset) {
    *why_not = "sender's payload reaches past its allocation";
    return;
  }
  set_handle(exported.handle, offer);
}

}  // namespace

std::uint64_t Offer::extent() const noexcept {
  if (strided == 0) return payload_bytes;
  return loops.bytes() == payload_bytes ? loops.extent() : 0;
}

cuda::Uuid device_of(const Offer& offer) noexcept {
  cuda::Uuid uuid;
  std::copy(std::begin(offer.device_uuid), std::end(offer.device_uuid), uuid.begin());
  return uuid;
}

Offer empty_offer() noexcept {
  const ProcessIdentity self = this_process();
  Offer offer{};
  offer.process_id = self.id;
  offer.process_nonce = self.nonce;
  offer.region.descriptor = -1;
  return offer;
}

Offer begin_offer(const BufferView& source) noexcept {
  Offer offer = empty_offer();
  offer.payload_bytes = source.layout.bytes();
  offer.kind = source.buffer.kind;
  offer.contiguous = source.layout.is_contiguous() ? 1 : 0;
  if (const auto loops = offer.contiguous == 0 ? source.layout.loops() : std::nullopt) {
    offer.strided = 1;
    offer.loops = *loops;
  }
  return offer;
}

void complete_offer(const BufferView& source, Offer& offer, const char** why_not) noexcept {
  *why_not = "";
  describe_memory(source.buffer, source.layout.first_offset(), offer);
  try {
    describe_export(source, offer, why_not);
  } catch (const std::bad_alloc&) {
    *why_not = "out of memory";
  }
}

Offer make_offer(const BufferView& source, const char** why_not) noexcept {
  Offer offer = begin_offer(source);
  complete_offer(source, offer, why_not);
  return offer;
}

Status describe_ring(const Buffer& ring, std::size_t ring_bytes, Offer& offer) {
  const cuda::Export exported = cuda::export_range(ring);
  if (exported.why_not != nullptr) return {Code::cuda_failed, "cuIpcGetMemHandle", exported.error};
  set_device(ring.device, offer);
  set_handle(exported.handle, offer);
  describe_memory(ring, 0, offer);
  offer.ring_bytes = ring_bytes;
  return {};
}

}  // namespace penstock::transports
