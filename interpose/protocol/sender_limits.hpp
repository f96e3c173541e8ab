// What the sends of this process take in turns, lest they take too much memory: rings in host memory, and
// buffering a large payload. Each owner gives its share back when it is destroyed. Knows no protocol.
#pragma once

namespace penstock::interpose {

/// One send's place among the payloads that go through rings. Thread: as its send.
class RingShare {
 public:
  RingShare() = default;
  ~RingShare() { end(); }
  RingShare(const RingShare&) = delete;
  RingShare& operator=(const RingShare&) = delete;

  /// Returns true if this send has a place, or may take one (policy::most_rings_at_once).
  [[nodiscard]] bool may_take() const noexcept;
  /// Takes a place, also where that is one too many.
  void take() noexcept;
  void end() noexcept;

 private:
  bool is_taken_ = false;
};

/// The turn to buffer a large payload, which one send of the process has at a time. Thread: as its send.
class BufferingTurn {
 public:
  BufferingTurn() = default;
  ~BufferingTurn() { end(); }
  BufferingTurn(const BufferingTurn&) = delete;
  BufferingTurn& operator=(const BufferingTurn&) = delete;

  /// Returns true if this send has the turn now.
  [[nodiscard]] bool take() noexcept;
  void end() noexcept;

 private:
  bool is_taken_ = false;
};

}  // namespace penstock::interpose
