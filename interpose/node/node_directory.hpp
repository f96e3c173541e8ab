// Who else of this job on this node runs the same Penstock: a directory in shared memory that every rank
// joins before PMPI_Init and reads after it, so that agreement needs no message. Ranks without Penstock never
// join, and nobody sends them envelopes. Knows no MPI call.
//
// The file lies in /dev/shm for as long as MPI_Init takes (then every rank has it open and it is unlinked);
// its name is the job's (launcher.hpp), its mode 0600. Another user who guesses the name can keep it busy,
// and no more: the file must be the user's own, or the directory stays closed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

#include "interpose/node/agreement_ring.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/node/slots.hpp"
#include "transports/host/process.hpp"

namespace penstock::interpose {

inline constexpr std::uint32_t directory_rows = 512;    ///< ranks of one job on one node
inline constexpr std::uint32_t arrival_places = 2048;   ///< communicators of a rank, as many as MPICH has
inline constexpr std::uint32_t forecast_places = 1024;  ///< senders and tags that are told apart
inline constexpr std::uint32_t gpu_places = 16;         ///< GPUs that a rank uses

/// What a rank says of its collectives of one communicator; arrival_places.cpp's.
struct ArrivalNote {
  std::atomic<std::uint64_t> communicator;  ///< its id, which is not 0
  std::atomic<std::uint64_t> said;
  std::atomic<std::uint64_t> failed;  ///< the last collective in which the rank failed, + 1; 0: none
  std::atomic<std::uint32_t> left;    ///< so many of the communicator's ranks, if this one is their first
};

/// One rank's row. Lies in shared memory. What changes with each message has a cache line of its own, as
/// others read the rest with each of theirs.
struct alignas(64) DirectoryRow {
  std::atomic<std::int32_t> world_rank;  ///< -1 until known, and when it has left
  std::atomic<std::uint32_t> openings;   ///< probes of this rank that are just taking what may be an envelope
  std::atomic<bool> is_parting;          ///< in MPI_Finalize: nothing more is received
  std::atomic<bool> accepts_envelopes;   ///< its host receives are kept apart (host_receives.hpp)
  std::atomic<bool> accepts_small;       ///< those too small for an envelope have staging buffers
  std::atomic<bool> is_published;        ///< world_rank is MPI's, no longer the environment's
  std::atomic<bool> forgets_arrivals;    ///< what is not in `arrivals` may have been there
  transports::ProcessIdentity process;
  alignas(64) std::atomic<std::uint64_t> offers;  ///< envelopes sent to this rank so far
  alignas(
      64) std::atomic<std::uint64_t> deliveries;  ///< counts, as it is at work: payloads, steps of large ones
  ArrivalNote arrivals[arrival_places];           ///< at collectives
  AgreementRing agreements[arrival_places];       ///< of the same communicators, if this rank is their first
  std::atomic<std::uint64_t> gpus[gpu_places];    ///< that it copies on: their ids, then 0
  std::atomic<std::uint8_t> crossed[forecast_places];  ///< where payloads went; destination_forecast.cpp's

  /// Called by its own rank. Threads may count one for two, as all that matters is that the number changes;
  /// one instruction would wait for the slot to come back from the sender's core.
  void note_delivery() noexcept {
    deliveries.store(deliveries.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

/// Thread: any after publish().
class NodeDirectory {
 public:
  /// Finds or makes the job's directory. A failure is said on one line; then every device payload is staged.
  void join() noexcept;
  /// After PMPI_Init: makes this rank known, removes the file's name.
  void publish(int world_rank) noexcept;
  /// This rank receives nothing more.
  void announce_parting() noexcept;
  /// A payload in one of this rank's slots may still be fetched by its receiver. Cost: for MPI_Finalize.
  [[nodiscard]] bool is_awaited() noexcept;
  /// Leaves the directory; also without publish(), when MPI_Init fails.
  void leave() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return shared_ != nullptr; }
  [[nodiscard]] const JobNonce& nonce() const noexcept { return nonce_; }
  /// All ranks of the job have agreed on this one. Before any message.
  void adopt(const JobNonce& nonce) noexcept { nonce_ = nonce; }
  /// A key for an envelope of this rank's, unique in the job.
  [[nodiscard]] std::uint64_t next_key() noexcept;
  [[nodiscard]] std::uint32_t own_index() const noexcept { return own_; }
  [[nodiscard]] DirectoryRow* own_row() noexcept;
  /// Null if that rank is on another node or runs no (or another) Penstock. Cost: two or three loads; until
  /// all ranks of the node have come out of MPI_Init, a look at each.
  [[nodiscard]] DirectoryRow* row_of(int world_rank) noexcept;

  /// A free slot of this rank's, marked taken by a new generation; null when all are in use.
  [[nodiscard]] Slot* take_slot(std::uint32_t* index) noexcept;
  void free_slot(Slot* slot) noexcept;
  /// All slots of this rank; empty if the directory is not open. Begins and ends with a page.
  [[nodiscard]] std::span<Slot> own_slots() noexcept;
  /// The slot an envelope names; null if it names none, or another use of it.
  [[nodiscard]] Slot* find(const Envelope& envelope) noexcept;
  /// Has that slot come from the sender's core, for find() to be called soon. Cost: some ns instead of 0.1 µs
  /// and more.
  void foresee(const Envelope& envelope) noexcept;

  /// Some rank of the node has CUDA in use: from then on blocking calls poll. Cost: two loads, as every call
  /// of a program without a GPU asks.
  [[nodiscard]] static bool gpu_seen() noexcept {
    return gpu_word.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != 0;
  }
  void note_gpu() noexcept;
  /// Some rank of the node has had a device buffer in a collective, or even in a non-blocking one; until then
  /// nobody looks for such.
  enum class DeviceCollectives : std::uint8_t { none, blocking, nonblocking };
  void note_device_collective(DeviceCollectives kind) noexcept;
  [[nodiscard]] DeviceCollectives device_collectives_seen() const noexcept;
  /// Notes that this rank copies on that GPU (not 0): does another rank, too? Cost: a look at each rank's.
  [[nodiscard]] bool shares_gpu(std::uint64_t gpu) noexcept;
  /// True for the first rank of the node that asks: it says what concerns all.
  [[nodiscard]] bool speaks_of_tuning() noexcept;

 private:
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

  /// From world ranks to rows, of those that are published: a rank in the upper half of a word, its row + 1
  /// in the lower one, 0 for nothing. Only ever added to, under `map_lock_`; twice the rows, so that a search
  /// ends.
  static constexpr std::uint32_t map_size = 2 * directory_rows;
  std::array<std::atomic<std::uint64_t>, map_size> map_{};
  std::atomic<std::uint32_t> rows_mapped_{0};
  std::array<bool, directory_rows> is_mapped_{};
  std::mutex map_lock_;
};

[[nodiscard]] NodeDirectory& node_directory() noexcept;

}  // namespace penstock::interpose
