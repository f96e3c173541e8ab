// A payload that is to be fetched, as the chooser and the transports see it: the questions about it that all
// of them would ask. Knows no transport.
#pragma once

#include <optional>

#include "transports/cuda/context.hpp"
#include "transports/cuda/devices.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// Whether a transport can carry a message; `reason` is a literal either way ("peer access is off", …), empty
/// where the transport was never meant for it.
struct Verdict {
  bool accepted = false;
  const char* reason = "";
  bool needs_sender = false;  ///< accepted, but the sender has to begin on this transport first
};

/// A payload that is to be fetched: what its sender offers, where it is to go, and what both are to this
/// process. Asked once for the chooser and the transport that it takes. Thread: one at a time.
class Payload {
 public:
  /// Copies the offer: what is checked and used stays the same, whatever its owner does to it. `destination`
  /// must stay as it is. Where memory runs out, the payload has no context.
  Payload(const Offer& published, const Place& to) noexcept;

  /// Its sender is this process.
  [[nodiscard]] bool is_own() const noexcept { return is_own_; }
  /// Both sides are memory of devices; `link` is what lies between these then.
  [[nodiscard]] bool is_between_devices() const noexcept { return is_between_devices_; }
  /// One device where either side is host memory: then a GPU reads or writes its own memory only.
  [[nodiscard]] cuda::Link link() const noexcept { return link_; }
  /// Driver ordinal; -1 if this process does not see the device.
  [[nodiscard]] int sender_device() const noexcept { return sender_device_; }
  /// Where copies from the sender's device are done: device memory is copied into by its own context, host
  /// memory by one on the sender's device if there is one. Null if the process has none. As Context::of().
  [[nodiscard]] const cuda::ContextRef& context() const noexcept { return *context_; }
  /// Whether memory of the sender's device can be mapped: judge_reach(). Errors: std::bad_alloc.
  [[nodiscard]] const Verdict& reach() const;

  const Offer offer;
  const Place& destination;

 private:
  bool is_own_;
  bool is_between_devices_;
  int sender_device_ = -1;
  cuda::Link link_ = cuda::Link::same_device;
  const cuda::ContextRef* context_;
  mutable std::optional<Verdict> reach_;
};

}  // namespace penstock::transports
