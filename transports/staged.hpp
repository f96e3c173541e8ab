// What a sender does where its payload cannot be fetched from where it lies. The staged transport: payload
// through host memory that both processes map and pin; the relayed transport: through a ring in the sender's
// own device's memory. The sender's half of both (StagedSend) copies source → region chunk by chunk; the
// receiver's half (the Transports `staged` and `relayed`) copies region → destination behind it. A region of
// host memory large enough for the whole payload frees the sender as soon as its own copies are done: that is
// how a late receiver is buffered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// What the sender copies its payload into.
enum class Staging : std::uint8_t {
  host_ring,
  host_whole,   ///< host memory for all of it
  device_ring,  ///< relaying
};

/// Sender's half. Owns its region until destroyed; a region whose receiver has not drained it goes on living
/// in the pool until it has (`drained`). Thread: one at a time.
class StagedSend {
 public:
  /// Takes a region (pooled by size), writes its whereabouts into `offer` and issues the first copies.
  /// `source` bytes must stay valid until `produced`. `device_ring` is `declined` while all memory for it is
  /// on loan.
  [[nodiscard]] static Status start(const Place& source, Staging staging, Offer& offer,
                                    std::unique_ptr<StagedSend>& send) noexcept;
  virtual ~StagedSend() = default;

  /// One step, never blocks. `produced`: every byte has left the user's buffer.
  [[nodiscard]] virtual Status advance(bool& produced) noexcept = 0;
  /// The receiver has taken everything.
  [[nodiscard]] virtual bool drained() const noexcept = 0;
  /// No receiver will come (cancelled, died): the region may be used again.
  virtual void abandon() noexcept = 0;
};

/// Whether a sender may buffer so much for a receiver that has not come (Region::may_buffer).
[[nodiscard]] bool may_buffer(std::size_t payload_bytes) noexcept;

/// Blocking copies between any place, scattered ones too, and plain host memory, for calls that are staged
/// whole (collectives and everything without a transport of its own). Waits for the application's earlier
/// work on the legacy stream.
[[nodiscard]] Status download(void* host, const Place& source) noexcept;
[[nodiscard]] Status upload(const Place& destination, const void* host) noexcept;

}  // namespace penstock::transports
