// The receiver's side of a posted receive that its sender may write to: shows it, takes it back, waits until
// the sender no longer writes. Knows adverts; no requests and no matching.
#pragma once

#include <cstdint>

#include "interpose/node/adverts.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/node/node_directory.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Owns an advert from show() on. Thread: one at a time.
class ShownReceive {
 public:
  ShownReceive() = default;
  /// Takes the receive back; if its sender is writing to the buffer, waits until that has ended.
  ~ShownReceive();
  ShownReceive(const ShownReceive&) = delete;
  ShownReceive& operator=(const ShownReceive&) = delete;

  /// Shows a receive to its sender if that can write there: device memory in one piece that other processes
  /// can map. Does nothing if it cannot, or if there is no room. Called when the receive is posted in the MPI
  /// library. Cost: as transports::is_idle(), and some 100 ns.
  void show(const MessageName& name, const transports::BufferView& buffer,
            const DirectoryRow& sender) noexcept;

  /// Returns true if the envelope's payload was written here.
  [[nodiscard]] bool is_named_by(const Envelope& envelope) const noexcept;
  /// Takes the receive back. Returns false while the sender may write to the buffer. Cost, if it is not
  /// shown: a comparison.
  [[nodiscard]] bool withdraw() noexcept;
  /// Ends it: the payload has arrived.
  void end() noexcept;

 private:
  Advert* advert_ = nullptr;  ///< null: not shown
  std::uint32_t place_ = 0;
  std::uint32_t use_ = 0;
  bool is_counted_ = false;  ///< by has_to_read(), until the receive is complete
  transports::ProcessIdentity sender_;
};

/// Returns true if this process reads the payload of a receive that it has shown, or will have to, as no
/// sender writes it. Cost: some loads; with such receives, as many cache lines as there are adverts.
[[nodiscard]] bool has_to_read() noexcept;
/// Takes back what is shown of the receive and of those that follow it, of the same communicator, sender and
/// tag. Returns false if a sender has taken one of them. Thread: any, if no such receive is shown meanwhile.
[[nodiscard]] bool withdraw_receives_from(const MessageName& name) noexcept;
/// Takes back all receives on a communicator that no sender has taken.
void withdraw_receives_on(std::uint64_t communicator) noexcept;
/// Takes back all receives of this process. Returns false if a sender has taken one of them.
[[nodiscard]] bool withdraw_open_receives() noexcept;
/// The same. Waits for senders that are writing, for a bounded time.
void withdraw_all_receives() noexcept;

}  // namespace penstock::interpose
