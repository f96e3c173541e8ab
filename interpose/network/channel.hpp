// What connects ranks of different nodes, once all ranks of the job have agreed to use it: a communicator of
// Penstock's own on which payloads travel in chunks, and the receivers' word that a payload may come. An
// agreement takes a collective call, which would hang where a rank runs without Penstock; so it is made in
// MPI_Init only if the user says that none does. Knows no GPU and no payload.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace penstock::interpose {

/// Of a payload by its receiver.
enum class Clearance : std::uint8_t {
  none,
  payload,  ///< it is there, and has room
  bitmap,   ///< and has room for a bitmap in the payload's place
};

/// Thread: any after open(); poll() by one at a time (Engine::Lock).
class Channel {
 public:
  /// Payloads under way from this rank at a time, each with a tag for its chunks: half of those that every
  /// MPI library has (MPI_TAG_UB is 32767 at least).
  static constexpr std::uint32_t tags = 16384;

  /// Collective over the job if PENSTOCK_EVERYWHERE=1 or the transport is forced; then every rank must come,
  /// also one that does not take part. Open afterwards only if all take part and some are on other nodes (or
  /// the transport is forced). All of them have one nonce then.
  void open(int world_rank, int world_size);
  /// In MPI_Finalize: this rank posts nothing more. True once that holds for all. Never blocks.
  [[nodiscard]] bool all_have_parted() noexcept;
  void close() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return communicator_ != MPI_COMM_NULL; }
  /// Its ranks are those of MPI_COMM_WORLD. Errors on it are returned.
  [[nodiscard]] MPI_Comm communicator() const noexcept { return communicator_; }
  [[nodiscard]] bool reaches(int world_rank) const noexcept {
    return is_open() && world_rank >= 0 && !has_failed();
  }
  /// Receivers are not heard any more: what waits for them would wait for ever.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_.load(std::memory_order_acquire); }
  /// Are some of them on different nodes? The same on all of them; false if some are not of this job.
  [[nodiscard]] bool spans(std::span<const int> world_ranks) const noexcept;
  /// The node of a rank of the job, by the lowest rank there. If the transport is forced, each rank counts as
  /// a node. After open(), while it is open.
  [[nodiscard]] int node_of(int world_rank) const noexcept;

  /// False: all are in use.
  [[nodiscard]] bool take_tag(std::uint32_t& tag);
  void give_back(std::uint32_t tag) noexcept;
  /// What the receiver of the payload with the tag has said.
  [[nodiscard]] Clearance clearance(std::uint32_t tag) const noexcept;
  /// A receiver has taken something of this rank's: it is at work.
  void note_taken(int receiver) noexcept;
  /// When it last did (record::now_ns).
  [[nodiscard]] std::uint64_t last_taken_ns(int receiver) const noexcept;

  /// What to tell a sender.
  [[nodiscard]] static std::uint32_t word_of(std::uint32_t tag, Clearance clearance) noexcept;
  /// Tells it. `*word` must stay until the request is complete.
  [[nodiscard]] int clear(int sender, const std::uint32_t* word, MPI_Request* request) const noexcept;
  /// Takes in what receivers have said. Cost: a test of a request, if it is open.
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

[[nodiscard]] Channel& channel() noexcept;

}  // namespace penstock::interpose
