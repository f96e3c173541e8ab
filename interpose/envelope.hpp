// The wire format: what travels through the MPI library in place of a device payload. Matching (order,
// wildcards, tags, cancel, synchronous mode) is thereby the MPI library's own. Knows no slot and no road.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock::interpose {

/// Random, the same on all ranks of a job on one node, so that no payload looks like an envelope by chance.
struct JobNonce {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const JobNonce&, const JobNonce&) = default;
};

/// Smaller messages travel as themselves, so that a legal receive always has room for an envelope; a device
/// message of this very size does not, as its content might look like one.
inline constexpr std::size_t envelope_bytes = 64;

struct Envelope {
  JobNonce nonce;
  std::uint64_t payload_bytes;
  std::uint64_t key;         ///< of the message, unique in the job (trace::MessageHalf::key)
  std::uint32_t row;         ///< of the sender in the node's directory
  std::uint32_t slot;        ///< of the sender's slots
  std::uint32_t generation;  ///< of the slot
  std::uint8_t reserved[20];
};
static_assert(sizeof(Envelope) == envelope_bytes);

/// True if `bytes` (envelope_bytes of them) are an envelope of this job; then `*envelope` is it.
[[nodiscard]] inline bool read_envelope(const void* bytes, const JobNonce& job, Envelope* envelope) noexcept {
  std::memcpy(envelope, bytes, envelope_bytes);
  return envelope->nonce == job;
}

}  // namespace penstock::interpose
