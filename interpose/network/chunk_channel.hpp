// Connects ranks of different nodes once all ranks of the job have agreed to it: a communicator of Penstock's
// own for payloads in chunks, and the receivers' clearances for senders. The agreement is a collective call,
// which would hang if a rank ran without Penstock. It is therefore made in MPI_Init, and only if the user
// declares that no rank does. Knows no GPU and no payload.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace penstock::interpose {

/// A receiver's clearance for one payload.
enum class Clearance : std::uint8_t {
  none,
  payload,  ///< the receiver has arrived and has room
  bitmap,   ///< it also has room for a bitmap instead of the payload
};

/// Thread: any after open(); poll() by one at a time (RequestTable::Lock).
class ChunkChannel {
 public:
  /// Payloads in flight from this rank at a time, each with a tag for its chunks. This is half of the tags
  /// that every MPI library has (MPI_TAG_UB is 32767 at least).
  static constexpr std::uint32_t tags = 16384;

  /// Collective over the job if PENSTOCK_EVERYWHERE=1 or the transport is forced; then every rank must call
  /// it, even one that takes no part. The channel is open afterwards only if all ranks take part and some are
  /// on other nodes (or the transport is forced). All ranks then have one nonce.
  void open(int world_rank, int world_size);
  /// For MPI_Finalize, when this rank posts nothing more: returns true once no rank does. Never blocks.
  [[nodiscard]] bool all_have_parted() noexcept;
  void close() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return communicator_ != MPI_COMM_NULL; }
  /// Its ranks are those of MPI_COMM_WORLD. Errors on it are returned.
  [[nodiscard]] MPI_Comm communicator() const noexcept { return communicator_; }
  [[nodiscard]] bool reaches(int world_rank) const noexcept {
    return is_open() && world_rank >= 0 && !has_failed();
  }
  /// Returns true if clearances can no longer be received; sends that wait for one would wait for ever.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_.load(std::memory_order_acquire); }
  /// Returns true if some of the ranks are on different nodes; the same on all of them. False if some are not
  /// of this job.
  [[nodiscard]] bool spans(std::span<const int> world_ranks) const noexcept;
  /// Returns the node of a rank of the job, as the lowest rank there. If the transport is forced, each rank
  /// counts as a node. Only while the channel is open.
  [[nodiscard]] int node_of(int world_rank) const noexcept;

  /// Returns false if all tags are in use.
  [[nodiscard]] bool take_tag(std::uint32_t& tag);
  void give_back(std::uint32_t tag) noexcept;
  /// Returns the clearance of the payload with the tag.
  [[nodiscard]] Clearance clearance(std::uint32_t tag) const noexcept;
  /// Records that a receiver has taken something of this rank's, and thus is at work.
  void note_taken(int receiver) noexcept;
  /// Returns when it last did (record::now_ns).
  [[nodiscard]] std::uint64_t last_taken_ns(int receiver) const noexcept;

  /// Encodes a clearance for the sender.
  [[nodiscard]] static std::uint32_t word_of(std::uint32_t tag, Clearance clearance) noexcept;
  /// Sends such a word to the sender. `*word` must stay valid until the request is complete.
  [[nodiscard]] int clear(int sender, const std::uint32_t* word, MPI_Request* request) const noexcept;
  /// Receives clearances. Cost: a test of a request, if the channel is open.
  void poll() noexcept;

 private:
  void listen() noexcept;
  void fail() noexcept;

  MPI_Comm communicator_ = MPI_COMM_NULL;
  bool is_forced_ = false;
  std::mutex mutex_;
  std::vector<std::uint32_t> free_tags_;
  std::unique_ptr<std::atomic<Clearance>[]> cleared_;            ///< by tag
  std::unique_ptr<std::atomic<std::uint64_t>[]> last_taken_ns_;  ///< by rank
  std::vector<int> nodes_;                                       ///< by rank
  std::uint32_t heard_ = 0;
  MPI_Request listening_ = MPI_REQUEST_NULL;
  MPI_Request parting_ = MPI_REQUEST_NULL;
  bool has_parted_ = false;
  std::atomic<bool> has_failed_{false};
};

[[nodiscard]] ChunkChannel& channel() noexcept;

}  // namespace penstock::interpose
