// The ranks of this job on this node that run the same Penstock. Every rank joins this directory in shared
// memory before PMPI_Init and reads it after, so that no message is needed. Ranks without Penstock never
// join, and get no envelopes. Makes no MPI call.
//
// The file lies in /dev/shm only during MPI_Init; then every rank has it open and it is unlinked. Its name
// identifies the job (launcher.hpp), its mode is 0600. Another user who guesses the name can only occupy it:
// the file must be the user's own, or the directory stays closed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "interpose/node/adverts.hpp"
#include "interpose/node/agreement_ring.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/node/partition_note.hpp"
#include "interpose/node/slots.hpp"
#include "transports/host/process.hpp"

namespace penstock::interpose {

inline constexpr std::uint32_t directory_rows = 512;    ///< ranks of one job on one node
inline constexpr std::uint32_t vote_slots = 2048;       ///< communicators of a rank, as many as MPICH has
inline constexpr std::uint32_t forecast_places = 1024;  ///< distinguished pairs of sender and tag
inline constexpr std::uint32_t gpu_places = 16;         ///< GPUs that a rank uses

/// A rank's notes on its collectives of one communicator; used by vote_slots.cpp.
struct ArrivalNote {
  std::atomic<std::uint64_t> communicator;  ///< its id, which is not 0
  std::atomic<std::uint64_t> ballot;
  std::atomic<std::uint64_t> failed;  ///< the last collective in which the rank failed, + 1; 0: none
  std::atomic<std::uint32_t> left;    ///< how many of its ranks have left, if this rank is their first
};

/// One rank's row. Lies in shared memory. Members that change with each message have a cache line of their
/// own, as other ranks read the rest with each of their messages.
struct alignas(64) DirectoryRow {
  std::atomic<std::int32_t> world_rank;          ///< -1 until known, and after it has left
  std::atomic<std::int32_t> number_of_launcher;  ///< the launcher's rank, from 1 on; 0 until known
  std::atomic<std::int32_t> world_size;          ///< of MPI_COMM_WORLD; 0 until known
  std::atomic<std::uint32_t> openings;  ///< probes of this rank that are receiving a possible envelope
  std::atomic<bool> is_parting;         ///< in MPI_Finalize: nothing more is received
  std::atomic<bool> accepts_envelopes;  ///< its host receives are kept apart (host_receives.hpp)
  std::atomic<bool> accepts_small;      ///< receives too small for an envelope have staging buffers
  std::atomic<bool> is_published;       ///< world_rank is MPI's, no longer the environment's
  std::atomic<bool> forgets_arrivals;   ///< communicators missing in `arrivals` may have been there
  std::atomic<bool> has_adverts;        ///< it shows posted receives, and looks for those of others
  transports::ProcessIdentity process;
  alignas(64) std::atomic<std::uint64_t> offers;      ///< envelopes sent to this rank so far
  alignas(64) std::atomic<std::uint64_t> deliveries;  ///< changes while it works: counts payloads, and steps
                                                      ///< of large ones
  ArrivalNote arrivals[vote_slots];                   ///< at collectives
  AgreementRing agreements[vote_slots];         ///< of the same communicators, if this rank is their first
  std::atomic<std::uint64_t> gpus[gpu_places];  ///< ids of GPUs that it copies on, then 0
  std::atomic<std::uint8_t> crossed[forecast_places];  ///< where payloads went: destination_forecast.cpp

  /// Called by its own rank. Two threads may count only one, as it only matters that the number changes. An
  /// atomic increment would wait for the slot's cache line to return from the sender's core.
  void note_delivery() noexcept {
    deliveries.store(deliveries.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

/// Thread: any after publish().
class NodeDirectory {
 public:
  /// Finds or makes the job's directory. If that fails, prints a line, and every device payload is staged.
  void join() noexcept;
  /// Called after PMPI_Init: publishes this rank, removes the file's name. Leaves the directory, with a line,
  /// if the ranks of several MPI_COMM_WORLDs have joined, which one launcher has started at a time.
  void publish(int world_rank, int world_size) noexcept;
  /// Announces that this rank receives nothing more.
  void announce_parting() noexcept;
  /// Returns true if a receiver may still fetch a payload from one of this rank's slots. Slow: for
  /// MPI_Finalize.
  [[nodiscard]] bool is_awaited() noexcept;
  /// Leaves the directory; also without publish(), when MPI_Init fails.
  void leave() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return shared_ != nullptr; }
  /// Returns how many ranks of this node have joined, those that have left included.
  [[nodiscard]] std::uint32_t rows_taken() const noexcept;
  [[nodiscard]] const JobNonce& nonce() const noexcept { return nonce_; }
  /// Replaces the nonce by one on which all ranks of the job have agreed. Before any message.
  void adopt(const JobNonce& nonce) noexcept { nonce_ = nonce; }
  /// Returns a key for an envelope of this rank, unique in the job.
  [[nodiscard]] std::uint64_t next_key() noexcept;
  [[nodiscard]] std::uint32_t own_index() const noexcept { return own_; }
  [[nodiscard]] DirectoryRow* own_row() noexcept;
  /// Returns null if that rank is on another node or runs no (or another) Penstock. Cost: two or three loads;
  /// until all ranks of the node have returned from MPI_Init, a look at each.
  [[nodiscard]] DirectoryRow* row_of(int world_rank) noexcept;

  /// Takes a free slot of this rank and gives it a new generation; null if all are in use.
  [[nodiscard]] Slot* take_slot(std::uint32_t* index) noexcept;
  void free_slot(Slot* slot) noexcept;
  /// Returns the memory of this rank's slots, notes and adverts, in which the GPU sets flags; empty if the
  /// directory is not open. Begins and ends with a page.
  [[nodiscard]] std::span<std::byte> flag_memory() noexcept;
  /// Returns the slot that an envelope names; null if it names none, or another use of it.
  [[nodiscard]] Slot* find(const Envelope& envelope) noexcept;
  /// Prefetches that slot from the sender's core, before find(). Cost: some ns instead of 0.1 µs and more.
  void prefetch_slot(const Envelope& envelope) noexcept;

  /// Returns the adverts of a rank; empty unless it has_adverts.
  [[nodiscard]] std::span<Advert> adverts_of(const DirectoryRow& row) noexcept;
  /// Returns what a rank shows of its partitioned messages. The row is of this directory.
  [[nodiscard]] PartitionArea& partitions_of(const DirectoryRow& row) noexcept;

  /// Returns true if some rank of the node uses CUDA: from then on blocking calls poll. Cost: two loads, as
  /// every call of a program without a GPU checks this.
  [[nodiscard]] static bool gpu_seen() noexcept {
    return gpu_word.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != 0;
  }
  void note_gpu() noexcept;
  /// The kinds of collectives in which some rank of the node has had a device buffer. Until there is one, no
  /// rank looks for them.
  enum class DeviceCollectives : std::uint8_t { none, blocking, nonblocking };
  void note_device_collective(DeviceCollectives kind) noexcept;
  [[nodiscard]] DeviceCollectives device_collectives_seen() const noexcept;
  /// Records that this rank copies on that GPU (not 0). Returns true if another rank does too. Cost: a look
  /// at each rank's row.
  [[nodiscard]] bool shares_gpu(std::uint64_t gpu) noexcept;
  /// Returns true for the first rank of the node that calls it: that rank prints what concerns all.
  [[nodiscard]] bool speaks_of_tuning() noexcept;

 private:
  [[nodiscard]] bool is_of_several_worlds(int world_size) const noexcept;
  void remove_name() noexcept;
  [[nodiscard]] DirectoryRow* mapped_row_of(int world_rank) noexcept;
  [[nodiscard]] DirectoryRow* search_row_of(int world_rank, std::uint32_t taken) noexcept;

  static inline constinit std::atomic<std::uint32_t> no_gpu{0};
  static inline constinit std::atomic<std::atomic<std::uint32_t>*> gpu_word{
      &no_gpu};  ///< the directory's, once joined

  struct Shared;
  Shared* shared_ = nullptr;
  JobNonce nonce_;
  std::uint32_t own_ = 0;
  std::uint32_t next_slot_ = 0;
  int file_ = -1;
  char path_[96] = {};

  /// Maps world ranks to rows, of published ranks. A word has the rank in its upper half, its row + 1 in the
  /// lower one; 0: empty. Entries are only added, under `map_lock_`. The map has twice as many entries as
  /// rows, so that a search ends.
  static constexpr std::uint32_t map_size = 2 * directory_rows;
  std::array<std::atomic<std::uint64_t>, map_size> map_{};
  std::atomic<std::uint32_t> rows_mapped_{0};
  std::array<bool, directory_rows> is_mapped_{};
  std::mutex map_lock_;
};

[[nodiscard]] NodeDirectory& node_directory() noexcept;

}  // namespace penstock::interpose
