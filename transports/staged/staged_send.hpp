// The sender's half (StagedSend) of the transports for payloads that cannot be fetched from where they lie:
// `staged`, through host memory that both processes map and pin, and `relayed`, through a ring in the
// sender's device memory. StagedSend copies source → region chunk by chunk; the receiver's half copies region
// → destination behind it. If a region of host memory holds the whole payload, the sender is free as soon as
// its own copies are done: a late receiver is buffered that way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// The memory into which the sender copies its payload.
enum class Staging : std::uint8_t {
  host_ring,
  host_whole,   ///< host memory for the whole payload
  device_ring,  ///< for relaying
};

/// The sender's half. Owns its region until destroyed; a region that its receiver has not drained lives on in
/// the pool until `drained`. Thread: one at a time.
class StagedSend {
 public:
  /// Takes a region (pooled by size), writes its location into `offer` and issues the first copies. `source`
  /// bytes must stay valid until `produced`. Errors: `declined` for `device_ring` while all memory for it is
  /// on loan.
  [[nodiscard]] static Status start(const BufferView& source, Staging staging, Offer& offer,
                                    std::unique_ptr<StagedSend>& send) noexcept;
  virtual ~StagedSend() = default;

  /// Makes one step and never blocks. `produced`: every byte has left the user's buffer.
  [[nodiscard]] virtual Status advance(bool& produced) noexcept = 0;
  /// True once the receiver has taken everything, or has died.
  [[nodiscard]] virtual bool drained() const noexcept = 0;
  /// Notes that no receiver will arrive (cancelled, died): the destructor then frees the region instead of
  /// pooling it.
  virtual void abandon() noexcept = 0;
};

/// Sets how many processes share the memory that may_buffer() goes by.
void share_memory_among(unsigned processes) noexcept;
/// Returns whether a sender may buffer this much for a receiver that has not arrived
/// (StagingRegion::may_buffer).
[[nodiscard]] bool may_buffer(std::size_t payload_bytes) noexcept;

}  // namespace penstock::transports
