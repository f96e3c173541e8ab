// Notes on partitioned messages in memory shared by the ranks of a node: the sender shows where its buffer
// lies and which partitions are ready, the receiver decides who moves them and says when it has all.
// interpose/partitioned/README.md has the rule. Knows no MPI call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/node/message_name.hpp"
#include "interpose/node/state_word.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::interpose {

enum class NoteState : std::uint32_t {
  free,
  open,     ///< a sender's: the receiver has to decide
  direct,   ///< the receiver copies the partitions out of the sender's buffer
  library,  ///< the MPI library carries the message
};

enum class NoteSide : std::uint8_t { owner, receiver };

using NoteMove = StateMove<NoteSide, NoteState>;
inline constexpr NoteMove note_moves[] = {
    {NoteSide::owner, NoteState::free, NoteState::open, "its buffer can be read by others"},
    {NoteSide::owner, NoteState::free, NoteState::library, "this side does not take part"},
    {NoteSide::owner, NoteState::open, NoteState::library, "the receiver does not take part"},
    {NoteSide::owner, NoteState::open, NoteState::free, "its request is freed"},
    {NoteSide::owner, NoteState::direct, NoteState::free, "its request is freed"},
    {NoteSide::owner, NoteState::library, NoteState::free, "its place is needed"},
    {NoteSide::receiver, NoteState::open, NoteState::direct, "it has mapped the buffer"},
    {NoteSide::receiver, NoteState::open, NoteState::library, "it cannot reach the buffer"},
};

/// Lies in shared memory. Only its owner writes the name and what describes the buffer, while it is free.
struct alignas(64) PartitionNote {
  StateWord<note_moves> state;
  StoredName name;
  std::atomic<std::uint32_t> partitions;
  std::atomic<std::uint32_t> first_word;  ///< of its partitions, among the owner's ready words
  std::atomic<std::uint64_t> key;         ///< of the operation under way, for recordings
  std::atomic<std::uint32_t> started;     ///< operations that the sender has begun
  std::atomic<std::uint32_t> done;        ///< operations of which the receiver has all partitions
  transports::Offer offer;                ///< describes the sender's whole buffer
};

inline constexpr std::size_t partition_notes_per_rank = 64;
inline constexpr std::size_t ready_words_per_rank = 4096;  ///< partitions of all its messages

/// One rank's. A word is 1 once the sender's partition may be read: its processor or its GPU stores that.
struct PartitionArea {
  PartitionNote notes[partition_notes_per_rank];
  std::atomic<std::uint32_t> ready[ready_words_per_rank];
  /// Set before the first note with the state `library` gives way to another: from then on a name that is not
  /// found may have been there, and its message is the MPI library's.
  std::atomic<std::uint32_t> has_forgotten;
};

}  // namespace penstock::interpose
