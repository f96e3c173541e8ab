// The wire format: what travels through the MPI library in place of a device payload. Matching (order,
// wildcards, tags, cancel, synchronous mode) is thereby the MPI library's own. Knows no slot and no
// transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock::interpose {

/// Random, the same on all ranks that send each other envelopes, so that no payload looks like an envelope by
/// chance.
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
  std::uint32_t row;         ///< of the sender in the node's directory, or row_of_other_nodes
  std::uint32_t slot;        ///< of the sender's slots; from another node: the tag of the payload's chunks
  std::uint32_t generation;  ///< of the slot
  std::uint8_t source_kind;  ///< transports::BufferKind; from another node, as there is no slot to say so
  std::uint8_t integers;     ///< transports::Integer; from another node: a PackingNote comes before the chunks
  std::uint8_t reserved[18];
};
static_assert(sizeof(Envelope) == envelope_bytes);

inline constexpr std::uint32_t row_of_other_nodes = UINT32_MAX;

/// Comes before the chunks of a payload that is a list of integers.
struct PackingNote {
  std::uint64_t bitmap_words;  ///< it comes as a bitmap of so many; 0: as it is
};

[[nodiscard]] inline bool comes_from_other_node(const Envelope& envelope) noexcept {
  return envelope.row == row_of_other_nodes;
}

/// A key says who sent the message, as a rank in MPI_COMM_WORLD, and which of that rank's it is.
[[nodiscard]] inline std::uint64_t key_of(int sender, std::uint64_t number) noexcept {
  return static_cast<std::uint64_t>(sender + 1) << 40 | (number & 0xff'ffff'ffffull);
}
[[nodiscard]] inline int sender_of(const Envelope& envelope) noexcept {
  return static_cast<int>(envelope.key >> 40) - 1;
}

/// True if `bytes` (envelope_bytes of them) are an envelope of this job; then `*envelope` is it. A rank that
/// takes no part has no nonce, and is sent none.
[[nodiscard]] inline bool read_envelope(const void* bytes, const JobNonce& job, Envelope* envelope) noexcept {
  std::memcpy(envelope, bytes, envelope_bytes);
  return envelope->nonce == job && job != JobNonce{};
}

}  // namespace penstock::interpose
