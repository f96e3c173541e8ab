#include "transports/offer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "transports/cuda/devices.hpp"
#include "transports/cuda/ipc_export.hpp"
#include "transports/process.hpp"

namespace penstock::transports {
namespace {

void describe_export(const Place& source, Offer& offer, const char** why_not) {
  const cuda::Uuid uuid = cuda::uuid_of(source.buffer.device);
  std::copy(uuid.begin(), uuid.end(), offer.device_uuid);
  if (offer.contiguous == 0) {
    *why_not = "sender's payload is not contiguous";
    return;
  }
  const cuda::Export exported = cuda::export_range(source.buffer);
  if (exported.why_not != nullptr) {
    *why_not = exported.why_not;
    return;
  }
  const std::uint64_t offset = offer.address - offer.range_base;  // wraps if before the base
  if (offset > offer.range_bytes || offer.payload_bytes > offer.range_bytes - offset) {
    *why_not = "sender's payload reaches past its allocation";
    return;
  }
  std::memcpy(offer.ipc_handle, &exported.handle, sizeof(offer.ipc_handle));
  offer.ipc_exported = 1;
}

}  // namespace

Offer describe(const Place& source, const char** why_not) noexcept {
  *why_not = "";
  const ProcessIdentity self = this_process();
  Offer offer{};
  offer.payload_bytes = source.layout.bytes();
  offer.process_id = self.id;
  offer.process_nonce = self.nonce;
  offer.address = reinterpret_cast<std::uint64_t>(source.buffer.pointer) +
                  static_cast<std::uint64_t>(source.layout.first_offset());
  offer.buffer_id = source.buffer.buffer_id;
  offer.range_base = source.buffer.range_base;
  offer.range_bytes = source.buffer.range_bytes;
  offer.kind = source.buffer.kind;
  offer.contiguous = source.layout.is_contiguous() ? 1 : 0;
  offer.region_descriptor = -1;
  try {
    describe_export(source, offer, why_not);
  } catch (const std::bad_alloc&) {
    *why_not = "out of memory";
  }
  return offer;
}

}  // namespace penstock::transports
