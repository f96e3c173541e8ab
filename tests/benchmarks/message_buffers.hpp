// One rank's buffers of every kind of memory, for messages out and messages in. Knows no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tests/benchmarks/message_point.hpp"

namespace penstock::benchmarks {

/// Owns: memory, allocated when it is first asked for and large enough for all the points, so that a buffer
/// never changes between two of them. Thread: one.
class MessageBuffers {
 public:
  MessageBuffers(int device, const std::vector<Point>& points);

  [[nodiscard]] test_support::Memory& outgoing(MemoryKind kind) { return of(kind, outgoing_); }
  [[nodiscard]] test_support::Memory& incoming(MemoryKind kind) { return of(kind, incoming_); }

 private:
  using Memories = std::array<test_support::Memory, test_support::memory_kinds.size()>;
  [[nodiscard]] test_support::Memory& of(MemoryKind kind, Memories& memories);

  int device_;
  std::array<std::size_t, test_support::memory_kinds.size()> bytes_{};
  Memories outgoing_;
  Memories incoming_;
};

}  // namespace penstock::benchmarks
