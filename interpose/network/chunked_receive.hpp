// The receiver's side of a payload from another node, after its envelope. It clears the sender when there is
// room, receives the chunks and copies them to the destination while more arrive. Knows neither the user's
// request nor how it was matched.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>

#include "interpose/messages/staging_buffers.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/progress/requests.hpp"
#include "transports/copies/chunk_copies.hpp"
#include "transports/copies/chunk_ring.hpp"
#include "transports/packing/list_unpack.hpp"

namespace penstock::interpose {

/// May outlive the receive that it was made for (RequestTable::adopt): what has begun is received to its end,
/// for the sender's sake. Must not be destroyed before advance() has returned true. Thread: one at a time.
class ChunkedReceive final : public Pending {
 public:
  /// `destination` has room for the whole payload.
  ChunkedReceive(const Envelope& envelope, transports::BufferView destination);
  ~ChunkedReceive() override = default;
  ChunkedReceive(const ChunkedReceive&) = delete;
  ChunkedReceive& operator=(const ChunkedReceive&) = delete;

  /// Drops the payload; the rest is received but not delivered. Nothing is written to the destination after
  /// this returns, except to host memory in one piece, which MPI may still be writing.
  void discard() noexcept;

  bool advance(bool arrived, const MPI_Status& status) override;
  [[nodiscard]] Progress progress() const override { return is_over_ ? Progress::none : Progress::always; }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] bool has_begun() const noexcept { return memory_ != nullptr; }
  /// Returns the size of the bitmap in which the payload arrived; 0: none.
  [[nodiscard]] std::uint64_t bitmap_bytes() const noexcept {
    return note_.bitmap_words == 0 ? 0 : wire_bytes_;
  }

 private:
  struct Chunk {
    char* data;
    std::size_t bytes;
    MPI_Request request;
  };

  void take_memory();
  [[nodiscard]] bool take_zone();
  void take_note();
  void expect_bitmap();
  [[nodiscard]] bool is_unpacked();
  void clear_sender();
  void take_arrived();
  void take_chunk(const Chunk& chunk);
  void take_placed();
  void post_receives();
  void fail(const Status& status) noexcept;
  void expect_no_more(const Status& status) noexcept;

  transports::BufferView destination_;
  std::size_t wire_bytes_;  ///< of the payload or its bitmap
  const transports::Integer integers_;
  std::unique_ptr<transports::ListUnpack> unpack_;
  PackingNote note_{};
  MPI_Request noting_ = MPI_REQUEST_NULL;
  const int sender_;  ///< rank in MPI_COMM_WORLD
  const std::uint32_t tag_;
  std::unique_ptr<transports::ChunkRing> ring_;
  StagingBuffer buffer_;  ///< replaces the ring where no GPU takes part
  std::unique_ptr<transports::ChunkCopies> copies_;
  char* memory_ = nullptr;  ///< byte n of the payload is at n % memory_bytes_
  std::size_t memory_bytes_ = 0;
  std::uint32_t clearance_word_ = 0;
  MPI_Request clearance_ = MPI_REQUEST_NULL;
  std::deque<Chunk> posted_;         ///< chunks that MPI has yet to fill
  std::deque<std::size_t> copying_;  ///< sizes of chunks being copied to the destination
  std::size_t expected_ = 0;         ///< bytes for which receives have been posted
  std::size_t done_ = 0;             ///< bytes whose memory is free again
  Status status_;
  bool is_wanted_ = true;
  bool is_noted_;  ///< whether a bitmap comes is known
  bool is_unpacking_ = false;
  bool is_cleared_ = false;  ///< the clearance has been sent
  bool ends_early_ = false;  ///< nothing more will arrive
  bool is_over_ = false;
};

}  // namespace penstock::interpose
