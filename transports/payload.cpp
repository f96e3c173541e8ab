#include "transports/payload.hpp"

#include "transports/host/guarded.hpp"
#include "transports/host/process.hpp"

namespace penstock::transports {

namespace {
const cuda::ContextRef no_context;
}  // namespace

Payload::Payload(const Offer& published, const BufferView& to) noexcept
    : offer(published),
      destination(to),
      is_own_(sender_of(offer) == this_process()),
      is_between_devices_(lives_on_device(offer.kind) && lives_on_device(destination.buffer.kind)),
      context_(&no_context) {
  static_cast<void>(guarded([&]() -> Status {
    sender_device_ = cuda::device_of(device_of(offer));
    if (is_between_devices_) link_ = cuda::link_between(destination.buffer.device, sender_device_);
    context_ = &(lives_on_device(destination.buffer.kind) ? cuda::Context::of(destination.buffer)
                                                          : cuda::Context::any(sender_device_));
    return {};
  }));
}

}  // namespace penstock::transports
