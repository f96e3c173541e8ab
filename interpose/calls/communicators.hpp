// What Penstock knows of each communicator: its ranks in MPI_COMM_WORLD, an id that is equal on all ranks,
// and a place where other parts hang what belongs to it. Kept as an MPI attribute, so that it goes with the
// communicator. Knows no message protocol.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "interpose/calls/kept_error_handler.hpp"
#include "interpose/node/arrival_places.hpp"

namespace penstock::interpose {

/// The part of a communicator that matching owns (messages received ahead of their receives).
class Stash;
class DeferredCollectives;  // deferred_collectives.hpp
class FusedCollectives;     // fused_collectives.hpp
class NodeMap;              // node_map.hpp
class Gathering;            // gathering.hpp
class Lanes;                // lanes.hpp

/// Whether ranks of it have to meet by messages before collectives (collective_arrival.hpp).
enum class Span : std::uint8_t { unknown, node, nodes };

/// Thread: fields but those from `collectives` on are fixed once made. Destroyed inside the MPI library's
/// attribute callback, when the library lets go of the communicator: nothing that hangs here may wait from
/// there, nor call MPI for more than a local handle of its own. What is under way keeps the info, not the
/// handle: the user may free that at any time, and the MPI library then gives it out anew.
struct CommunicatorInfo {
  MPI_Comm handle = MPI_COMM_NULL;  ///< the user's, until is_gone
  std::uint64_t global_id = 0;
  bool id_is_agreed = false;  ///< else other ranks may have another one: Penstock did not see how it was made
  std::uint32_t local_id = 0;
  int rank = 0;
  int size = 0;  ///< of the local group
  bool is_inter = false;
  std::vector<int>
      world_ranks;  ///< of the ranks that messages go to (remote group if inter); -1: not of this job
  std::atomic<std::uint32_t> collectives{0};    ///< collective calls so far
  std::atomic<std::uint32_t> arrivals{0};       ///< blocking collective calls (collective_arrival.hpp)
  std::shared_ptr<ArrivalPlace> arrival_place;  ///< made at the first; shared as the stash is
  std::atomic<bool> is_in_step{true};           ///< the other ranks have counted as many, as far as was seen
  std::atomic<Span> span{Span::unknown};
  std::shared_ptr<const NodeMap> nodes;  ///< of an intracommunicator that spans several
  bool has_met = false;  ///< for a collective that failed on this rank alone, and will be called again
  bool repeats_arrival = false;  ///< the same, on one node
  Said said;                     ///< at the last of them
  bool wants_to_meet = false;    ///< has had a device buffer in a non-blocking one
  bool meets = false;            ///< all ranks wait for each other in blocking collectives
  unsigned looks_for_rows = 0;
  std::vector<const DirectoryRow*> rows;          ///< of all members, if all are on this node
  MPI_Comm for_collectives = MPI_COMM_NULL;       ///< whose messages carry them out (message_exchange.hpp)
  bool has_no_messages = false;                   ///< there could be none
  std::shared_ptr<Lanes> lanes;                   ///< of persistent ones; made at the first
  std::shared_ptr<DeferredCollectives> deferred;  ///< the non-blocking ones; made when it meets
  std::shared_ptr<FusedCollectives> fused;        ///< made at the first that could be one
  std::shared_ptr<Gathering> other_calls;         ///< those that make windows and files
  bool is_for_collectives = false;          ///< it is such a one itself: its messages are not the program's
  std::atomic<bool> is_vertex_set{false};   ///< communicator_hints.hpp
  std::atomic<std::uint64_t> creations{0};  ///< of them, those that make communicators
  std::mutex
      stash_lock;  ///< around {look in the stash, post} and {improbe, stash}; never held while blocking
  std::shared_ptr<Stash> stash;  ///< made at first need; shared only so that its type may stay unknown here
  // guarded by a lock of the process's:
  int holders = 0;          ///< see HeldCommunicator
  bool is_freed = false;    ///< by the user, while it is held
  bool is_gone = false;     ///< the MPI library has been told to free the handle
  KeptErrorHandler errors;  ///< then: of what is still under way
};

/// Null for MPI_COMM_NULL, and when memory ran out. Makes the info at first sight of a communicator (local
/// operations only: group, translate, attribute). Whoever keeps it past the call keeps the shared pointer.
/// Thread: any. Cost: a thread-local cache of the last one, then PMPI_Comm_get_attr.
[[nodiscard]] std::shared_ptr<CommunicatorInfo> info_of(MPI_Comm communicator) noexcept;

/// The same without taking a share: valid while the communicator is.
[[nodiscard]] CommunicatorInfo* peek_info(MPI_Comm communicator) noexcept;

/// Rank in MPI_COMM_WORLD of a peer rank of the communicator; -1 when unknown, MPI_PROC_NULL and
/// MPI_ANY_SOURCE as they are.
[[nodiscard]] int world_rank_of(MPI_Comm communicator, int rank) noexcept;
[[nodiscard]] int world_rank_of(const CommunicatorInfo& info, int rank) noexcept;

/// World ranks of all who take part in collectives of it; those that are not of this job are negative.
[[nodiscard]] std::vector<int> members_of(MPI_Comm communicator, const CommunicatorInfo& info);

/// What tells a communicator from others with the same members, the same on all of its ranks.
struct Origin {
  std::uint64_t value = 0;
  /// Else communicators of this origin and these members are counted as they are seen.
  bool is_unique = false;
  bool is_agreed = false;  ///< the same on all ranks
  bool is_for_collectives = false;
  bool is_vertex_set = false;  ///< communicator_hints.hpp
};

/// The origin of what the next creating call that is collective over `parent` makes. Such calls come in one
/// order on all its ranks, whatever other threads do with other communicators. Call it once a creating call,
/// before it.
[[nodiscard]] Origin origin_from(MPI_Comm parent) noexcept;
/// The origin of the communicator that carries the collectives of `parent`; there is one at most.
[[nodiscard]] Origin origin_for_collectives_of(const CommunicatorInfo& parent) noexcept;
/// The call failed on this rank before the others could know of it: it will be made again.
void take_back_origin_from(MPI_Comm parent) noexcept;

/// Another number that is equal where both are.
[[nodiscard]] std::uint64_t mixed_id(std::uint64_t id, std::uint64_t number) noexcept;
/// The same of an id and the ranks of a group, another one at each call with the same.
[[nodiscard]] std::uint64_t unique_id(std::uint64_t id, std::span<const int> members);
/// In MPI_COMM_WORLD, -1 for those that are not in it.
[[nodiscard]] std::vector<int> world_ranks_of(MPI_Group group);

/// The origin of what those ranks alone make that become its members; `tag` is a number that they share.
[[nodiscard]] Origin origin_among_members(std::uint64_t tag) noexcept;

/// Called after a communicator has been made (any rank's result may be MPI_COMM_NULL): numbers it and records
/// it.
void note_created(MPI_Comm communicator, Origin origin = {}) noexcept;

/// The same for a handle that may not be used yet (MPI_Comm_idup): numbered now, looked at when first used.
void note_creating(MPI_Comm communicator, Origin origin) noexcept;

/// The communicator has a new name: records it again.
void note_named(MPI_Comm communicator) noexcept;

/// The MPI library is about to be told to free the handle, which nobody holds.
void note_freeing(MPI_Comm communicator) noexcept;
/// It did not.
void note_not_freed(MPI_Comm communicator) noexcept;

/// Keeps a handle valid although the user may free it, as a persistent request keeps the communicator that it
/// was made on: the MPI library frees it when the last holder goes. Thread: any.
class HeldCommunicator {
 public:
  explicit HeldCommunicator(MPI_Comm communicator) noexcept : HeldCommunicator(info_of(communicator)) {}
  explicit HeldCommunicator(std::shared_ptr<CommunicatorInfo> info) noexcept;
  ~HeldCommunicator();
  HeldCommunicator(const HeldCommunicator&) = delete;
  HeldCommunicator& operator=(const HeldCommunicator&) = delete;

  /// False: it came too late, the handle has been freed.
  [[nodiscard]] bool is_valid() const noexcept { return info_ != nullptr; }

 private:
  std::shared_ptr<CommunicatorInfo> info_;  ///< null: nothing is held
};

/// The user frees a handle. True if somebody holds it, so that the MPI library must not free it yet; else
/// nobody can hold it any more.
[[nodiscard]] bool is_kept(MPI_Comm communicator) noexcept;

/// Calls the error handler of a communicator, or the one that it had when the user freed it. It may abort,
/// throw or return.
void call_error_handler(const std::shared_ptr<CommunicatorInfo>& info, int code);

/// Sets up the attribute key and MPI_COMM_WORLD / SELF. After PMPI_Init.
void open_communicators() noexcept;
void close_communicators() noexcept;

}  // namespace penstock::interpose
