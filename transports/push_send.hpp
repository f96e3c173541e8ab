// The sender's part in the transport `pushed`: its copy engine writes a payload from pinned host memory
// straight into the receiver's buffer, which the receiver has offered in its turn. Knows no slots and no
// transports.
#pragma once

#include <memory>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// Owns the copy; destroying it waits until the GPU touches neither side any more. Thread: one at a time.
class PushSend {
 public:
  /// Maps what the receiver says of its destination (describe()) and queues the copy. Nothing of the
  /// application's may be using the destination any more. `declined` as long as no byte has moved, with the
  /// driver's error in `detail` where it was asked.
  [[nodiscard]] static Status start(const Place& source, const Offer& target,
                                    std::unique_ptr<PushSend>& send) noexcept;
  virtual ~PushSend() = default;

  /// One step, never blocks. `arrived`: every byte is in the destination. An error is final.
  [[nodiscard]] virtual Status advance(bool& arrived) noexcept = 0;
};

}  // namespace penstock::transports
