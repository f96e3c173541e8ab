#include "tests/benchmarks/raw_copies.hpp"

#include <algorithm>
#include <cstring>

#include "tests/benchmarks/two_ranks.hpp"

namespace penstock::benchmarks {
namespace {

using test_support::Memory;

std::size_t largest_buffer(const std::vector<Point>& points) {
  std::size_t bytes = 1;
  for (const Point& point : points) bytes = std::max(bytes, point.buffer_bytes());
  return bytes;
}

/// The other rank's memory in this process.
std::byte* map_of_other(int rank, const Memory& own) {
  cudaIpcMemHandle_t mine{};
  cudaIpcMemHandle_t theirs{};
  require(cudaIpcGetMemHandle(&mine, own.data()), "export memory");
  MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, 1 - rank, 1, &theirs, sizeof theirs, MPI_BYTE, 1 - rank, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  void* mapping = nullptr;
  require(cudaIpcOpenMemHandle(&mapping, theirs, cudaIpcMemLazyEnablePeerAccess),
          "map the other GPU's memory (without peer access: --raw-by-pcie)");
  return static_cast<std::byte*>(mapping);
}

}  // namespace

RawCopies::RawCopies(int rank, int device, const std::vector<Point>& points, bool by_pcie)
    : rank_(rank),
      source_(MemoryKind::device, largest_buffer(points), device),
      device_target_(MemoryKind::device, largest_buffer(points), device) {
  if (by_pcie) {
    host_target_ = Memory(MemoryKind::pinned, largest_buffer(points), device);
  } else {
    peer_source_ = map_of_other(rank, source_);
  }
  require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
}

RawCopies::~RawCopies() {
  cudaStreamDestroy(stream_);
  if (peer_source_ != nullptr) cudaIpcCloseMemHandle(peer_source_);
  meet(rank_);  // memory that is still mapped elsewhere must not be freed
}

void RawCopies::run(const Point& point, MessageBuffers& buffers) {
  const bool both_ways = point.pattern == Pattern::both_ways;
  if (rank_ == leader || both_ways) copy(point, buffers);
  if (both_ways) meet(rank_);
}

void RawCopies::copy(const Point& point, MessageBuffers& buffers) {
  const bool from_peer = point.from_device() && point.to_device() && peer_source_ != nullptr;
  const std::byte* source = from_peer             ? peer_source_
                            : point.from_device() ? source_.data()
                                                  : buffers.outgoing(point.sender_kind).data();
  std::byte* target = !point.to_device()                  ? buffers.incoming(point.receiver_kind).data()
                      : point.from_device() && !from_peer ? host_target_.data()
                                                          : device_target_.data();
  if (!point.from_device() && !point.to_device()) {
    for (std::size_t i = 0; i < point.messages(); ++i) {
      std::memcpy(target + point.offset_of(i), source + point.offset_of(i), point.bytes);
    }
    return;
  }
  for (std::size_t i = 0; i < point.messages(); ++i) {
    require(cudaMemcpyAsync(target + point.offset_of(i), source + point.offset_of(i), point.bytes,
                            cudaMemcpyDefault, stream_),
            "copy");
  }
  require(cudaStreamSynchronize(stream_), "wait for copies");
}

}  // namespace penstock::benchmarks
