// What cliff_benchmark times at one point: the messages, and copies by CUDA alone. Knows no clock.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/benchmarks/cliff_points.hpp"

namespace penstock::benchmarks {

/// One rank's buffers and calls. Windows go from rank 0 to rank 1; single messages there and back. Both ranks
/// call each function together. Owns: buffers, allocated when first asked for and large enough for all the
/// points. Thread: one.
class CliffExchange {
 public:
  CliffExchange(int rank, int device, const std::vector<CliffPoint>& points);
  ~CliffExchange();
  CliffExchange(const CliffExchange&) = delete;
  CliffExchange& operator=(const CliffExchange&) = delete;

  /// The point's messages once; returns on rank 0 when all have arrived.
  void messages(const CliffPoint& point);
  /// The same, of marked buffers; ends the job with a line if a message arrives without its mark.
  void checked_messages(const CliffPoint& point, std::uint64_t nonce);
  /// As many copies on rank 0 as the point has messages. Device and pool: from the peer's cudaMalloc memory,
  /// mapped through CUDA IPC; managed: to pinned memory, since nothing else can cross processes; between
  /// device and host: that copy. Blocking calls: a wait for each copy; else one for all.
  void raw_copies(const CliffPoint& point);

 private:
  using Memories = std::array<test_support::Memory, test_support::memory_kinds.size()>;
  [[nodiscard]] test_support::Memory& outgoing(const CliffPoint& point);
  [[nodiscard]] test_support::Memory& incoming(const CliffPoint& point);
  [[nodiscard]] test_support::Memory& of(MemoryKind kind, Memories& memories, bool whole_window);
  [[nodiscard]] std::byte* raw_memory(MemoryKind kind);
  [[nodiscard]] bool sends(const CliffPoint& point) const noexcept { return point.number == 1 || rank_ == 0; }
  [[nodiscard]] bool receives(const CliffPoint& point) const noexcept {
    return point.number == 1 || rank_ == 1;
  }
  void there_and_back(const CliffPoint& point);
  void window(const CliffPoint& point);

  int rank_;
  int device_;
  std::array<std::size_t, test_support::memory_kinds.size()> window_bytes_{};
  std::size_t largest_ = 0;
  std::size_t raw_bytes_ = 0;
  Memories outgoing_;
  Memories incoming_;
  Memories raw_;
  test_support::Memory raw_source_;
  std::byte* peer_source_ = nullptr;  ///< the other rank's raw_source_
  cudaStream_t stream_ = nullptr;
};

}  // namespace penstock::benchmarks
