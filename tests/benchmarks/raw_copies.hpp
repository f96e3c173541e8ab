// What CUDA alone takes for a point's bytes, in the same processes: the figure that a message is compared
// with. Knows nothing of how messages travel.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "tests/benchmarks/message_buffers.hpp"

namespace penstock::benchmarks {

/// Copies of memory of its own, so that the MPI library is free to map or unmap the messages' buffers.
/// Device to device: rank 0 pulls from rank 1's cudaMalloc memory, mapped through CUDA IPC (also for the
/// other kinds on a device, which is what they are to reach); or, with `by_pcie`, a copy to pinned memory.
/// Between device and host: that copy on rank 0. Between host and host: memcpy. Both ways: on both ranks at
/// once. Owns: the memory, the mapping, a stream. Thread: one.
class RawCopies {
 public:
  /// Both ranks together; so for the destruction.
  RawCopies(int rank, int device, const std::vector<Point>& points, bool by_pcie);
  ~RawCopies();
  RawCopies(const RawCopies&) = delete;
  RawCopies& operator=(const RawCopies&) = delete;

  /// As many copies as the point has messages, and the wait for them. Both ranks together.
  void run(const Point& point, MessageBuffers& buffers);

 private:
  void copy(const Point& point, MessageBuffers& buffers);

  int rank_;
  test_support::Memory source_;         ///< on the device
  test_support::Memory device_target_;  ///< for copies from the peer or from the host
  test_support::Memory host_target_;    ///< for device to device `by_pcie`
  std::byte* peer_source_ = nullptr;    ///< the other rank's source_; null if `by_pcie`
  cudaStream_t stream_ = nullptr;
};

}  // namespace penstock::benchmarks
