#include "tests/benchmarks/message_buffers.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

#include "tests/benchmarks/two_ranks.hpp"

namespace penstock::benchmarks {
namespace {

/// So that virtual memory has several chunks also where messages are small.
constexpr std::size_t least_bytes = 8 << 20;

std::size_t index_of(MemoryKind kind) {
  return static_cast<std::size_t>(kind);
}

/// Pages exist, and managed memory lies on the device.
void touch(test_support::Memory& memory) {
  if (!lives_on_device(memory.kind())) {
    std::memset(memory.data(), 1, memory.size());
    return;
  }
  require(cudaMemset(memory.data(), 1, memory.size()), "fill a buffer");
  require(cudaDeviceSynchronize(), "fill a buffer");
}

}  // namespace

MessageBuffers::MessageBuffers(int device, const std::vector<Point>& points) : device_(device) {
  for (const Point& point : points) {
    for (const MemoryKind kind : {point.sender_kind, point.receiver_kind}) {
      std::size_t& bytes = bytes_[index_of(kind)];
      bytes = std::max({bytes, point.buffer_bytes(), least_bytes});
    }
  }
}

test_support::Memory& MessageBuffers::of(MemoryKind kind, Memories& memories) {
  test_support::Memory& memory = memories[index_of(kind)];
  if (memory.data() == nullptr) {
    memory = test_support::Memory(kind, bytes_[index_of(kind)], device_);
    touch(memory);
  }
  return memory;
}

}  // namespace penstock::benchmarks
