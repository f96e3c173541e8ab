// The wire format: what travels through the MPI library in place of a payload. Matching (order, wildcards,
// tags, cancel, synchronous mode) is thereby the MPI library's own. Knows no slot and no transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock::interpose {

/// A random number, the same on all ranks that send each other envelopes, so that no payload looks like an
/// envelope by chance.
struct JobNonce {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const JobNonce&, const JobNonce&) = default;
};

/// Smaller messages mostly travel as themselves, so that a receive has room for an envelope; for the others
/// receives make room (host_receives.hpp). A device message of this very size never does, as its content
/// might look like an envelope.
inline constexpr std::size_t envelope_bytes = 64;

struct Envelope {
  JobNonce nonce;
  std::uint64_t payload_bytes;
  std::uint64_t key;   ///< of the message, unique in the job (trace::MessageHalf::key)
  std::uint32_t row;   ///< of the sender in the node's directory, or row_of_other_nodes
  std::uint32_t slot;  ///< index among the sender's slots; from another node: the tag of the payload's chunks
  std::uint32_t generation;  ///< of the slot
  std::uint8_t source_kind;  ///< transports::BufferKind; only from another node, where no slot holds it
  std::uint8_t integers;     ///< transports::Integer; from another node: a PackingNote precedes the chunks
  std::uint8_t reserved[2];
  std::uint32_t advert;      ///< of the posted receive that the payload is written to, + 1; 0: there is none
  std::uint32_t advert_use;  ///< of the advert
  std::uint8_t reserved_too[8];
};
static_assert(sizeof(Envelope) == envelope_bytes);

inline constexpr std::uint32_t row_of_other_nodes = UINT32_MAX;

/// Precedes the chunks of a payload that is a list of integers.
struct PackingNote {
  std::uint64_t bitmap_words;  ///< size of the bitmap that follows; 0: the list follows unchanged
};

[[nodiscard]] inline bool comes_from_other_node(const Envelope& envelope) noexcept {
  return envelope.row == row_of_other_nodes;
}

/// Returns a key that contains the sender, a rank in MPI_COMM_WORLD, and the number of its message.
[[nodiscard]] inline std::uint64_t key_of(int sender, std::uint64_t number) noexcept {
  return static_cast<std::uint64_t>(sender + 1) << 40 | (number & 0xff'ffff'ffffull);
}
[[nodiscard]] inline int sender_of(const Envelope& envelope) noexcept {
  return static_cast<int>(envelope.key >> 40) - 1;
}

/// Returns true if `bytes` (envelope_bytes of them) are an envelope of this job, and copies it to
/// `*envelope`. A rank that takes no part has no nonce, and is sent no envelope.
[[nodiscard]] inline bool read_envelope(const void* bytes, const JobNonce& job, Envelope* envelope) noexcept {
  std::memcpy(envelope, bytes, envelope_bytes);
  return envelope->nonce == job && job != JobNonce{};
}

}  // namespace penstock::interpose
