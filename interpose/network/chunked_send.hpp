// A payload on its way to a rank of another node, after its envelope. Once the receiver has room, it goes
// chunk by chunk through a ring of pinned memory, with GPU and network working at the same time. If the
// receiver is late, it goes through a buffer, which frees the sender. Knows neither the user's request nor
// how it was matched.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "interpose/messages/packing_forecast.hpp"
#include "interpose/messages/receiver_timeout.hpp"
#include "interpose/messages/staging_buffers.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/progress/requests.hpp"
#include "transports/copies/chunk_copies.hpp"
#include "transports/copies/chunk_ring.hpp"
#include "transports/host/watch.hpp"
#include "transports/packing/list_pack.hpp"

namespace penstock::interpose {

/// May outlive the send that it was made for (RequestTable::adopt). Must not be destroyed before advance()
/// has returned true. Thread: one at a time.
class ChunkedSend final : public Pending {
 public:
  /// `receiver` is a rank in MPI_COMM_WORLD. `may_buffer`: the send need not wait for the receiver. Returns
  /// null if too many are pending.
  [[nodiscard]] static std::unique_ptr<ChunkedSend> open(transports::BufferView source, const ListLook& look,
                                                         int receiver, bool may_buffer);
  ChunkedSend(transports::BufferView source, const ListLook& look, int receiver, bool may_buffer,
              std::uint32_t tag);
  ~ChunkedSend() override;
  ChunkedSend(const ChunkedSend&) = delete;
  ChunkedSend& operator=(const ChunkedSend&) = delete;

  [[nodiscard]] std::uint32_t tag() const noexcept { return tag_; }
  /// Starts to send the chunks, after the envelope was sent.
  void start() noexcept;
  /// Withdraws the payload: the envelope was cancelled, and no receiver will arrive.
  void withdraw() noexcept;

  bool advance(bool arrived, const MPI_Status& status) override;
  [[nodiscard]] Progress progress() const override;

  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  [[nodiscard]] bool receiver_has_come() const noexcept { return has_come_; }
  /// Returns true if the payload's memory is not read any more.
  [[nodiscard]] bool has_left() const noexcept;
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 private:
  struct Chunk {
    char* data;
    std::size_t bytes;
    MPI_Request request;
  };

  [[nodiscard]] Status step();
  [[nodiscard]] Status step_pack(bool& ended);
  [[nodiscard]] Status send_note();
  [[nodiscard]] Status take_memory();
  void buffer_payload();
  [[nodiscard]] Status move();
  [[nodiscard]] Status issue_copies();
  [[nodiscard]] Status post_next();
  [[nodiscard]] Status take_back_sent();
  void give_up(const Status& status);
  [[nodiscard]] bool receiver_is_late() const noexcept;
  [[nodiscard]] bool is_all_posted() const noexcept;

  transports::BufferView source_;  ///< the payload or its bitmap
  std::size_t wire_bytes_;         ///< its size
  const ListLook look_;
  std::unique_ptr<transports::ListPack> pack_;
  PackingNote note_{};
  MPI_Request noting_ = MPI_REQUEST_NULL;
  const int receiver_;
  const std::uint32_t tag_;
  std::unique_ptr<std::atomic<std::uint32_t>> ready_;  ///< 1: the application's earlier GPU work is done
  std::unique_ptr<transports::ChunkRing> ring_;
  StagingBuffer buffered_;
  std::size_t buffered_bytes_ = 0;
  std::unique_ptr<transports::ChunkCopies> copies_;
  char* memory_ = nullptr;  ///< the ring's or the buffer's: byte n of the payload is at n % memory_bytes_
  std::size_t memory_bytes_ = 0;
  std::deque<Chunk> chunks_;       ///< in order: chunks that MPI has, then chunks being copied
  std::size_t posted_chunks_ = 0;  ///< how many of them MPI has
  std::size_t issued_ = 0;         ///< bytes whose copies have started
  std::size_t sent_ = 0;           ///< bytes whose memory is free again
  ReceiverTimeout timeout_;
  Status status_;
  transports::Watch watch_;
  const bool may_buffer_;
  const bool mpi_would_buffer_;
  bool has_come_ = false;
  bool is_noted_ = false;   ///< the note has been sent, or none is needed
  bool must_wait_ = false;  ///< the receiver is late, and there is no room to buffer the payload
  bool is_withdrawn_ = false;
  bool may_have_left_something_ = false;  ///< it was withdrawn after some of it had been sent
  bool is_lost_ = false;                  ///< MPI cannot reach the receiver
  bool is_over_ = false;
};

}  // namespace penstock::interpose
