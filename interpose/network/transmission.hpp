// A payload on its way to a rank of another node, from the envelope on: chunk by chunk through a ring of
// pinned memory once the receiver has room for it, GPU and network at work at once. If the receiver is late,
// through a buffer, so that the sender is free. Knows neither the user's request nor how it was matched.
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

/// May outlive the send that it was made for (Engine::adopt). Must not be destroyed before advance() has
/// returned true. Thread: one at a time.
class Transmission final : public Pending {
 public:
  /// `receiver` is a rank in MPI_COMM_WORLD. `may_buffer`: a plain MPI would not wait for the receiver.
  /// Null: too many are under way.
  [[nodiscard]] static std::unique_ptr<Transmission> open(transports::Place source, const ListLook& look,
                                                          int receiver, bool may_buffer);
  Transmission(transports::Place source, const ListLook& look, int receiver, bool may_buffer,
               std::uint32_t tag);
  ~Transmission() override;
  Transmission(const Transmission&) = delete;
  Transmission& operator=(const Transmission&) = delete;

  [[nodiscard]] std::uint32_t tag() const noexcept { return tag_; }
  /// The envelope is on its way.
  void start() noexcept;
  /// The envelope has been cancelled: no receiver will come.
  void withdraw() noexcept;

  bool advance(bool arrived, const MPI_Status& status) override;
  [[nodiscard]] Progress progress() const override;

  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  [[nodiscard]] bool receiver_has_come() const noexcept { return has_come_; }
  /// The payload is no more read from where it lay, or never will be.
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

  transports::Place source_;  ///< of the payload, or of its bitmap
  std::size_t wire_bytes_;    ///< of that
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
  char* memory_ = nullptr;  ///< of the ring or the buffer: byte n of the payload at n % memory_bytes_
  std::size_t memory_bytes_ = 0;
  std::deque<Chunk> chunks_;       ///< in order: those that MPI has, then those that are being copied
  std::size_t posted_chunks_ = 0;  ///< so many MPI has
  std::size_t issued_ = 0;         ///< bytes that have begun to be copied
  std::size_t sent_ = 0;           ///< bytes whose memory is free again
  ReceiverTimeout timeout_;
  Status status_;
  transports::Watch watch_;
  const bool may_buffer_;
  const bool is_small_;
  bool has_come_ = false;
  bool is_noted_ = false;   ///< the note is on its way, or none is needed
  bool must_wait_ = false;  ///< the receiver is late, and there is no room to buffer the payload
  bool is_withdrawn_ = false;
  bool is_lost_ = false;  ///< MPI cannot reach the receiver
  bool is_over_ = false;
};

}  // namespace penstock::interpose
