// Rounds of messages between two ranks that leave nothing of a program's ways out: every kind of memory, made
// and freed in between, sizes for every transport, windows, wildcards, probes, late receivers, requests that
// nobody looks at again, datatypes and communicators that come and go. What arrives is compared. A user's
// program: knows MPI and CUDA, not Penstock.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/support/memory.hpp"

namespace penstock::soak {

/// Between ranks 0 and 1 of MPI_COMM_WORLD, each of which makes one and calls round() as often as the other.
class Traffic {
 public:
  /// Each of the messages in a window has its tag.
  Traffic(int rank, std::size_t window_messages) noexcept : rank_(rank), window_messages_(window_messages) {}
  /// As many as there are tags in any MPI.
  static constexpr std::size_t most_window_messages = 32768;

  /// All messages of the next round.
  void round();
  /// That this rank has sent.
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  /// The first payload that was wrong; empty if none was.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  class Payload;

  void window();
  void large_message();
  void strided_message();
  void probed_message();
  void message_to_itself();
  void late_messages();
  void forgotten_requests();
  void short_lived_communicator();
  void collective_calls();

  [[nodiscard]] int other() const noexcept { return 1 - rank_; }
  [[nodiscard]] test_support::MemoryKind kind(std::uint64_t turn) const noexcept;
  void compare(const test_support::Memory& received, std::size_t bytes, int sender, const char* what);

  const int rank_;
  const std::size_t window_messages_;
  std::uint64_t round_ = 0;
  std::uint64_t messages_ = 0;
  std::string fault_;
};

}  // namespace penstock::soak
