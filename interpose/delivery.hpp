// Brings one offered payload from its sender to its place: looks the slot up, asks the chooser for a road,
// drives the pull, marks the slot. Knows slots, roads and the recorder; no MPI call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "interpose/envelope.hpp"
#include "interpose/slots.hpp"
#include "transports/transport.hpp"
#include "transports/watch.hpp"

namespace penstock::interpose {

/// Owns the receiver's part of a slot until finished. Thread: one at a time.
class Delivery {
 public:
  /// `capacity`: bytes the receive has room for. A longer payload is not fetched (truncated()).
  Delivery(const Envelope& envelope, transports::Place destination, std::size_t capacity);
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  /// One step, never blocks. True when it is over, well or not.
  [[nodiscard]] bool advance();

  [[nodiscard]] const Envelope& envelope() const noexcept { return envelope_; }
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] transports::BufferKind source_kind() const noexcept { return source_kind_; }

  /// Payloads on their way, of all deliveries, that are so small that their senders must not have to wait for
  /// this rank's next MPI call.
  [[nodiscard]] static const std::atomic<unsigned>& small_ones_in_flight() noexcept;

 private:
  [[nodiscard]] bool slot_is_ours() const noexcept;
  [[nodiscard]] bool try_offered();
  void ask_sender(transports::Road road);
  void ask_to_push();
  [[nodiscard]] bool look_after_sender();
  void await_push() const noexcept;
  [[nodiscard]] bool step_pull();
  [[nodiscard]] bool try_staged();
  [[nodiscard]] bool start(const transports::Choice& choice, SlotState declined_from, SlotState declined_to);
  [[nodiscard]] bool end(const Status& status, SlotState state);
  void drop_pull() noexcept;
  void say_failure() const;
  void record() const;

  Envelope envelope_;
  transports::Place destination_;
  Slot* slot_ = nullptr;
  std::unique_ptr<transports::Pull> pull_;
  Status status_;
  transports::Watch watch_;
  const char* reason_ = "";
  std::uint64_t begin_ns_ = 0;
  std::uint64_t start_ns_ = 0;  ///< when bytes began to move
  transports::BufferKind source_kind_ = transports::BufferKind::unknown;
  transports::Road road_ = transports::Road::none;
  unsigned excluded_ = 0;
  bool is_small_in_flight_ = false;  ///< counted by small_ones_in_flight()
  bool truncated_ = false;
  bool over_ = false;
};

}  // namespace penstock::interpose
