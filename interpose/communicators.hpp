// What Penstock knows of each communicator: its ranks in MPI_COMM_WORLD, an id that is equal on all ranks, and a
// place where other parts hang what belongs to it. Kept as an MPI attribute, so that it goes with the
// communicator. Knows no message protocol.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace penstock::interpose {

/// The part of a communicator that matching owns (messages received ahead of their receives).
class Stash;

/// Thread: fields but the last three are fixed once made.
struct CommunicatorInfo {
  CommunicatorInfo();
  ~CommunicatorInfo();
  std::uint64_t global_id = 0;
  std::uint32_t local_id = 0;
  int rank = 0;
  int size = 0;                  ///< of the local group
  bool is_inter = false;
  std::vector<int> world_ranks;  ///< of the ranks that messages go to (remote group if inter); -1: not of this job
  std::atomic<std::uint32_t> collectives{0};  ///< collective calls so far
  std::mutex stash_lock;         ///< around {look in the stash, post} and {improbe, stash}; never held while blocking
  std::unique_ptr<Stash> stash;  ///< made at first need
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

/// Called after a communicator has been made (any rank's result may be MPI_COMM_NULL): numbers it and records it.
void note_created(MPI_Comm communicator) noexcept;

/// Sets up the attribute key and MPI_COMM_WORLD / SELF. After PMPI_Init.
void open_communicators() noexcept;
void close_communicators() noexcept;

}  // namespace penstock::interpose
