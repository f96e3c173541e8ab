// The delivery of one payload that an envelope has announced: what all kinds have in common. Knows the
// recorder; neither slots nor chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "interpose/node/envelope.hpp"
#include "transports/transport.hpp"

namespace penstock::interpose {

/// Thread: one at a time.
class Delivery {
 public:
  virtual ~Delivery() = default;
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  /// Takes one step; never blocks. Returns true when it is over, successful or not.
  [[nodiscard]] virtual bool advance() = 0;
  /// Returns true once bytes have begun to move or it is over.
  [[nodiscard]] virtual bool is_under_way() const noexcept = 0;

  [[nodiscard]] const Envelope& envelope() const noexcept { return envelope_; }
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] transports::BufferKind source_kind() const noexcept { return source_kind_; }

 protected:
  Delivery(const Envelope& envelope, transports::BufferView destination);
  /// Called at the end: prints a failure, records what was moved.
  void report() const;

  const Envelope envelope_;
  transports::BufferView destination_;
  Status status_;
  const char* reason_ = "";         ///< why this transport; a literal
  std::uint64_t bitmap_bytes_ = 0;  ///< size of the bitmap in which a list of integers arrived; 0: none
  std::uint64_t begin_ns_ = 0;
  std::uint64_t start_ns_ = 0;  ///< when bytes began to move
  transports::BufferKind source_kind_ = transports::BufferKind::unknown;
  transports::TransportKind transport_ = transports::TransportKind::none;
  bool truncated_ = false;

 private:
  [[nodiscard]] std::uint32_t reason_id() const;
};

}  // namespace penstock::interpose
