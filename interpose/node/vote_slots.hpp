// The slots where ranks record their arrivals and votes at collectives. Each rank has one slot in its row
// of the node directory for each communicator on which it has arrived at a collective; other ranks find the
// slot by the communicator's id. Knows no MPI call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "interpose/node/node_directory.hpp"

namespace penstock::interpose {

enum class Seen : std::uint8_t {
  here,     ///< that rank has arrived at the collective
  not_yet,  ///< that rank has not arrived
  unknown,  ///< it may have arrived: it has more communicators than slots, or has reused a slot
};

/// A rank's vote on how a collective is carried out.
enum class Vote : std::uint8_t {
  library,   ///< by the MPI library, whatever the others vote
  any,       ///< as the others vote
  messages,  ///< by messages between the ranks: this rank has a device buffer
  kernels,   ///< by a kernel on each rank, if all vote so; otherwise by messages, or by the library if it is
             ///< small
};

[[nodiscard]] constexpr bool has_device_buffer(Vote vote) noexcept {
  return vote == Vote::messages || vote == Vote::kernels;
}

/// Returns a number that shows ranks whether their arguments fit together: below 4,096, and not 0. Different
/// arguments rarely have the same.
[[nodiscard]] std::uint16_t signature_of(std::uint64_t arguments) noexcept;

/// A rank's note on its arrival at a collective.
struct Ballot {
  Vote vote = Vote::library;
  bool meets = false;           ///< it waits for the others, and so knows their votes
  bool defers = false;          ///< it would also vote on non-blocking collectives
  std::uint16_t signature = 0;  ///< signature_of() what must be equal on all ranks; 0: none
};

/// `ballot` is valid only if the rank is here.
struct Arrival {
  Seen seen = Seen::not_yet;
  Ballot ballot;
};

/// Returns whether a rank has arrived at that collective of the communicator, and its vote. Votes of the last
/// two collectives are kept. Older ones read as 'no vote'; that is safe because a rank that votes waits for
/// all others. `row` is in shared memory. Cost: mostly two loads; a look at all slots if nothing is found in
/// a full row.
[[nodiscard]] Arrival look_for_arrival(const DirectoryRow& row, std::uint64_t communicator_id,
                                       std::uint32_t ordinal) noexcept;

/// Returns true if that rank has reported, by note_failure(), that it cannot do its part in that collective.
/// Only the rank's last failure is kept.
[[nodiscard]] bool has_failed(const DirectoryRow& row, std::uint64_t communicator_id,
                              std::uint64_t which) noexcept;

/// Returns true if that rank has met others in one of its last two collectives of the communicator.
[[nodiscard]] bool has_met_others(const DirectoryRow& row, std::uint64_t communicator_id) noexcept;

/// Returns where the communicator's ranks vote on its non-blocking collectives, in the row of their first
/// rank. Null: that rank has no slot for it.
[[nodiscard]] AgreementRing* find_agreements(DirectoryRow& row, std::uint64_t communicator_id) noexcept;

/// The slot of a rank's notes on one communicator.
struct ClaimedVoteSlot {
  std::uint32_t index = 0;
  /// Every rank that looks finds the slot. Otherwise some may already have concluded that there is none.
  bool is_certain = false;
};

/// The ranks that may still read a rank's notes on a communicator: each may until it has left it too. Leaving
/// ranks are counted in the slot of the first of them. That slot is reused when all have left, so a counted
/// rank that does not find it any more also knows that all have left.
class Readers {
 public:
  enum class State : std::uint8_t {
    reading,
    left,
    unknown,  ///< their first rank has no slot for it
  };

  /// Unknown readers.
  Readers() noexcept = default;
  /// `members` of the communicator have rows, and `first` is the first of them. 0: no other rank can read the
  /// notes.
  Readers(DirectoryRow& first, std::uint64_t communicator_id, std::uint32_t members) noexcept
      : first_(&first), communicator_id_(communicator_id), members_(members) {}

  /// Returns those of the members (ranks in MPI_COMM_WORLD) that are on this node.
  [[nodiscard]] static Readers among(DirectoryRow& own, std::uint64_t communicator_id,
                                     std::span<const int> members) noexcept;

  /// Counts this rank as having left, if that was not possible before. Returns the state.
  [[nodiscard]] State look() noexcept;
  [[nodiscard]] bool are_notified() const noexcept { return is_counted_ || members_ == 0; }

 private:
  DirectoryRow* first_ = nullptr;
  std::uint64_t communicator_id_ = 0;
  std::uint32_t members_ = 0;
  bool is_counted_ = false;
};

/// The slots of this rank's own row. A freed slot must stay findable, as other ranks may still be waiting
/// at a communicator's last collective. It is reused when its readers have left. If these are unknown, it is
/// reused only when all slots are taken, the longest free one first. Thread: any.
class VoteSlots {
 public:
  /// Claims a slot. Returns nothing, and marks the row, if all slots belong to communicators in use.
  [[nodiscard]] std::optional<ClaimedVoteSlot> claim(DirectoryRow& row,
                                                     std::uint64_t communicator_id) noexcept;
  /// Releases a communicator's slot; it may not have had one. Does not wait.
  void release(std::optional<std::uint32_t> slot, Readers readers = {}) noexcept;

 private:
  struct Use {
    std::uint64_t released = 0;  ///< when, counted in releases; 0: not yet
    bool is_claimed = false;     ///< has been claimed once
    Readers readers;
  };
  void notify_readers() noexcept;

  std::mutex mutex_;
  std::array<Use, vote_slots> slots_{};
  std::vector<Readers> unnotified_;  ///< readers yet to be informed, of communicators without a slot
  bool has_unnotified_ = false;      ///< there are such, or some slot has one
  std::uint64_t releases_ = 0;
};

/// Records that this rank has arrived at that many collectives of the slot's communicator. Cost: one store.
void note_arrival(DirectoryRow& row, std::uint32_t slot, std::uint32_t ordinal, Ballot ballot = {}) noexcept;

/// In place of an ordinal: collectives that are not counted, and any other.
inline constexpr std::uint64_t any_collective = std::uint64_t{1} << 32;
/// Records that this rank cannot do its part in that collective; others would wait for it for ever.
void note_failure(DirectoryRow& row, std::uint32_t slot, std::uint64_t which) noexcept;

/// Returns this process's slots.
[[nodiscard]] VoteSlots& own_vote_slots() noexcept;

/// The slot of one communicator, as long as this rank takes part in its collectives.
class VoteSlot {
 public:
  /// `row` must be this rank's own.
  VoteSlot(DirectoryRow& row, std::uint64_t communicator_id, Readers readers) noexcept
      : readers_(readers), slot_(own_vote_slots().claim(row, communicator_id)) {}
  /// Records that this rank has left the communicator.
  ~VoteSlot();
  VoteSlot(const VoteSlot&) = delete;
  VoteSlot& operator=(const VoteSlot&) = delete;

  [[nodiscard]] std::optional<ClaimedVoteSlot> get() const noexcept { return slot_; }

 private:
  Readers readers_;
  std::optional<ClaimedVoteSlot> slot_;
};

}  // namespace penstock::interpose
