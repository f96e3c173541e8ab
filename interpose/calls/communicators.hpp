// Penstock's record of each communicator: its ranks in MPI_COMM_WORLD, an id that is equal on all ranks, and
// members for other folders' data. Stored as an MPI attribute, so that it is destroyed with the communicator.
// Knows no message protocol.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "interpose/calls/kept_error_handler.hpp"
#include "interpose/node/vote_slots.hpp"

namespace penstock::interpose {

/// The messages received ahead of their receives; owned by matching.
class Stash;
class MessageOrder;         // message_order.hpp
class DeferredCollectives;  // deferred_collectives.hpp
class OneShotCollectives;   // one_shot_collectives.hpp
class NodeMap;              // node_map.hpp
class Gathering;            // gathering.hpp
class TagRanges;            // tag_ranges.hpp

/// The extent of a communicator: over several nodes, ranks have to meet by messages before collectives
/// (collective_arrival.hpp).
enum class Span : std::uint8_t { unknown, node, nodes };

/// Thread: members before `collectives` are fixed once made. The info is destroyed inside the MPI library's
/// attribute callback, when the library drops the communicator. Destructors of its members must therefore not
/// wait, and may call MPI only for local handles of their own. Pending work keeps the info, not the handle:
/// the user may free the handle at any time, and the MPI library then reuses it.
struct CommunicatorInfo {
  MPI_Comm handle = MPI_COMM_NULL;  ///< the user's, until is_gone
  std::uint64_t global_id = 0;
  bool id_is_agreed = false;  ///< otherwise ranks' ids may differ: Penstock did not see how it was made
  std::uint32_t local_id = 0;
  int rank = 0;
  int size = 0;  ///< of the local group
  bool is_inter = false;
  std::vector<int>
      world_ranks;  ///< of the ranks that messages go to (remote group if inter); -1: not of this job
  std::atomic<std::uint32_t> collectives{0};  ///< collective calls so far
  std::atomic<std::uint32_t> arrivals{0};     ///< blocking collective calls (collective_arrival.hpp)
  std::shared_ptr<VoteSlot> vote_slot;        ///< made at the first; shared like the stash
  std::atomic<bool> is_in_step{true};         ///< as far as was seen, the other ranks have counted as many
  std::atomic<Span> span{Span::unknown};
  std::shared_ptr<const NodeMap> nodes;  ///< of an intracommunicator that spans several nodes
  bool has_met = false;          ///< for a collective that failed on this rank alone and will be repeated
  bool repeats_arrival = false;  ///< the same, on one node
  Ballot ballot;                 ///< in the last of these calls
  bool wants_to_meet = false;    ///< a non-blocking collective has had a device buffer
  bool meets = false;            ///< all ranks wait for each other in blocking collectives
  unsigned looks_for_rows = 0;
  std::vector<const DirectoryRow*> rows;          ///< of all members, if all are on this node
  MPI_Comm for_collectives = MPI_COMM_NULL;       ///< its messages carry them out (message_exchange.hpp)
  bool has_no_messages = false;                   ///< it could not be made
  std::shared_ptr<TagRanges> tag_ranges;          ///< of persistent collectives; made at the first
  std::shared_ptr<DeferredCollectives> deferred;  ///< the non-blocking ones; made when `meets` is set
  std::shared_ptr<OneShotCollectives> one_shot;   ///< made at the first that could be one
  std::shared_ptr<Gathering> other_calls;         ///< those that make windows and files
  bool is_for_collectives = false;  ///< it carries another's collectives: its messages are not the program's
  std::atomic<bool> is_vertex_set{false};   ///< communicator_hints.hpp
  std::atomic<std::uint64_t> creations{0};  ///< calls that make communicators
  std::mutex stash_lock;  ///< around {search the stash, post} and {improbe, stash}; never held while blocking
  std::shared_ptr<Stash> stash;  ///< made at first need; shared so that its type may stay incomplete here
  std::once_flag order_is_made;
  std::shared_ptr<MessageOrder> order;  ///< of its messages, where they are counted
  // guarded by the registry's lock:
  int holders = 0;          ///< see HeldCommunicator
  bool is_freed = false;    ///< by the user, while it is held
  bool is_gone = false;     ///< the MPI library was called to free the handle
  KeptErrorHandler errors;  ///< the handler at that time, for errors of pending work
};

/// Returns null for MPI_COMM_NULL and when memory ran out. Makes the info at the first use of a communicator
/// (local operations only: group, translate, attribute). Code that keeps it past the call keeps the shared
/// pointer. Thread: any. Cost: a thread-local cache of the last one, then PMPI_Comm_get_attr.
[[nodiscard]] std::shared_ptr<CommunicatorInfo> info_of(MPI_Comm communicator) noexcept;

/// The same without taking a share: valid while the communicator is.
[[nodiscard]] CommunicatorInfo* peek_info(MPI_Comm communicator) noexcept;

/// The same if the info exists already; else null.
[[nodiscard]] std::shared_ptr<CommunicatorInfo> known_info(MPI_Comm communicator) noexcept;
/// A communicator without an info, by MPI_Comm_idup, gets an id that counts as not agreed.
void forget_agreement(MPI_Comm communicator) noexcept;

/// Returns the rank in MPI_COMM_WORLD of a peer rank of the communicator; -1 if unknown. MPI_PROC_NULL and
/// MPI_ANY_SOURCE stay unchanged.
[[nodiscard]] int world_rank_of(MPI_Comm communicator, int rank) noexcept;
[[nodiscard]] int world_rank_of(const CommunicatorInfo& info, int rank) noexcept;

/// Returns the world ranks of all participants of its collectives; ranks that are not of this job are
/// negative.
[[nodiscard]] std::vector<int> members_of(MPI_Comm communicator, const CommunicatorInfo& info);

/// Distinguishes a communicator from others with the same members; the same on all of its ranks.
struct Origin {
  std::uint64_t value = 0;
  /// Otherwise communicators of this origin and these members are counted in the order of their first use.
  bool is_unique = false;
  bool is_agreed = false;  ///< the same on all ranks
  bool is_for_collectives = false;
  bool is_vertex_set = false;  ///< communicator_hints.hpp
};

/// Returns the origin of what the next creating call over `parent` makes. Such calls have one order on all
/// its ranks, whatever other threads do with other communicators. Call it once for each creating call, before
/// it.
[[nodiscard]] Origin origin_from(MPI_Comm parent) noexcept;
/// Returns the origin of the communicator that carries the collectives of `parent`; there is one at most.
[[nodiscard]] Origin origin_for_collectives_of(const CommunicatorInfo& parent) noexcept;
/// Takes the origin back: the call failed on this rank before it reached the others, and will be repeated.
void take_back_origin_from(MPI_Comm parent) noexcept;

/// Returns another number that is equal on all ranks where both arguments are.
[[nodiscard]] std::uint64_t mixed_id(std::uint64_t id, std::uint64_t number) noexcept;
/// The same for an id and the ranks of a group; each call with the same arguments returns another number.
[[nodiscard]] std::uint64_t unique_id(std::uint64_t id, std::span<const int> members);
/// Returns ranks in MPI_COMM_WORLD; -1 for those that are not in it.
[[nodiscard]] std::vector<int> world_ranks_of(MPI_Group group);

/// Returns the origin of what its future members alone make; `tag` is a number that they share.
[[nodiscard]] Origin origin_among_members(std::uint64_t tag) noexcept;

/// Called after a communicator has been made (any rank's result may be MPI_COMM_NULL): gives it an id and
/// records it.
void note_created(MPI_Comm communicator, Origin origin = {}) noexcept;

/// The same for a handle that may not be used yet (MPI_Comm_idup): gives it an id now, inspects it at first
/// use.
void note_creating(MPI_Comm communicator, Origin origin) noexcept;

/// Records the communicator again, as it has a new name.
void note_named(MPI_Comm communicator) noexcept;

/// Called before the MPI library frees the handle, which no object holds.
void note_freeing(MPI_Comm communicator) noexcept;
/// Called if the MPI library did not free it.
void note_not_freed(MPI_Comm communicator) noexcept;

/// Keeps a handle valid although the user may free it, as a persistent request keeps its communicator: the
/// MPI library frees the handle with the last holder. Thread: any.
class HeldCommunicator {
 public:
  explicit HeldCommunicator(MPI_Comm communicator) noexcept : HeldCommunicator(info_of(communicator)) {}
  explicit HeldCommunicator(std::shared_ptr<CommunicatorInfo> info) noexcept;
  ~HeldCommunicator();
  HeldCommunicator(const HeldCommunicator&) = delete;
  HeldCommunicator& operator=(const HeldCommunicator&) = delete;

  /// Returns false if the handle had already been freed.
  [[nodiscard]] bool is_valid() const noexcept { return info_ != nullptr; }

 private:
  std::shared_ptr<CommunicatorInfo> info_;  ///< null: nothing is held
};

/// Called when the user frees a handle. Returns true if it is held, so that the MPI library must not free it
/// yet. Otherwise it cannot be held any more.
[[nodiscard]] bool is_kept(MPI_Comm communicator) noexcept;

/// Calls the error handler of a communicator, or the one that it had when the user freed it. The handler may
/// abort, throw or return.
void call_error_handler(const std::shared_ptr<CommunicatorInfo>& info, int code);

/// Sets up the attribute key, MPI_COMM_WORLD and MPI_COMM_SELF. After PMPI_Init.
void open_communicators() noexcept;
void close_communicators() noexcept;

}  // namespace penstock::interpose
