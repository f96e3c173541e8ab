// The sender's side of a posted receive: finds the one that a send will meet and takes it. Knows adverts; no
// copies and no messages.
#pragma once

#include <cstdint>

#include "interpose/node/adverts.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/node/node_directory.hpp"

namespace penstock::interpose {

/// Owns the sender's part of an advert once it is taken. Thread: one at a time.
class FoundReceive {
 public:
  FoundReceive() = default;
  /// Looks for the receive of that name in the receiver's adverts, with room for the payload, and a buffer
  /// that may be written now. Cost: looks at up to places_for_an_advert cache lines.
  FoundReceive(const MessageName& name, const DirectoryRow& receiver, std::uint64_t payload_bytes) noexcept;
  ~FoundReceive() { end(); }
  FoundReceive(FoundReceive&& other) noexcept;
  FoundReceive& operator=(FoundReceive&& other) noexcept;

  [[nodiscard]] bool is_found() const noexcept { return advert_ != nullptr; }
  /// Returns false if the receiver has taken it back.
  [[nodiscard]] bool take() noexcept;
  /// Once it is taken: describes the buffer.
  [[nodiscard]] const transports::Offer& target() const noexcept { return advert_->target; }
  void name_in(Envelope& envelope) const noexcept;
  /// Gives it back: nothing writes to the buffer any more.
  void end() noexcept;

 private:
  Advert* advert_ = nullptr;  ///< null: nothing was found, or it has ended
  std::uint32_t place_ = 0;
  std::uint32_t use_ = 0;
  bool is_taken_ = false;
};

}  // namespace penstock::interpose
