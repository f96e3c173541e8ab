// A payload that is to be fetched, with the facts about it that the chooser and all transports need. Knows no
// transport.
#pragma once

#include <optional>

#include "transports/cuda/context.hpp"
#include "transports/cuda/devices.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// States whether a transport can carry a message. `reason` is a literal either way ("peer access is off",
/// …), empty if the transport was never meant for the message.
struct Verdict {
  bool accepted = false;
  const char* reason = "";
  bool needs_sender = false;  ///< accepted, but the sender has to begin on this transport first
};

/// A payload that is to be fetched: the sender's offer, the destination, and how this process relates to
/// both. Created once and used by the chooser and by the transport that it picks. Thread: one at a time.
class Payload {
 public:
  /// Copies the offer, so that checks and use see the same values whatever the offer's owner does to it.
  /// `destination` must stay unchanged. If memory runs out, the payload has no context.
  Payload(const Offer& published, const BufferView& to) noexcept;

  /// True if the sender is this process.
  [[nodiscard]] bool is_own() const noexcept { return is_own_; }
  /// True if both sides are device memory; `link` is then what connects the devices.
  [[nodiscard]] bool is_between_devices() const noexcept { return is_between_devices_; }
  /// `same_device` if either side is host memory: a GPU then reads or writes only its own memory.
  [[nodiscard]] cuda::Link link() const noexcept { return link_; }
  /// Driver ordinal; -1 if this process does not see the device.
  [[nodiscard]] int sender_device() const noexcept { return sender_device_; }
  /// The context in which copies from the sender's device are made. For device memory it is the destination's
  /// own context, for host memory one on the sender's device if there is one. Null if the process has none.
  /// As Context::of().
  [[nodiscard]] const cuda::ContextRef& context() const noexcept { return *context_; }

  const Offer offer;
  const BufferView& destination;
  /// Whether memory of the sender's device can be mapped, once judge_reach() has found out (ipc/reach.hpp).
  mutable std::optional<Verdict> judged_reach;

 private:
  bool is_own_;
  bool is_between_devices_;
  int sender_device_ = -1;
  cuda::Link link_ = cuda::Link::same_device;
  const cuda::ContextRef* context_;
};

}  // namespace penstock::transports
