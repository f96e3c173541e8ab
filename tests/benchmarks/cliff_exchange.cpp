#include "tests/benchmarks/cliff_exchange.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/benchmarks/two_ranks.hpp"
#include "tests/support/random.hpp"

namespace penstock::benchmarks {
namespace {

using test_support::Memory;

constexpr int message_tag = 0;
constexpr std::size_t mark_bytes = 8;
/// Raw copies of more go round in so much.
constexpr std::size_t most_raw_bytes = std::size_t{512} << 20;

std::size_t index_of(MemoryKind kind) {
  return static_cast<std::size_t>(kind);
}

/// Pages exist, and managed memory lies on the device.
void touch(Memory& memory) {
  if (!lives_on_device(memory.kind())) {
    std::memset(memory.data(), 1, memory.size());
    return;
  }
  require(cudaMemset(memory.data(), 1, memory.size()), "fill a buffer");
  require(cudaDeviceSynchronize(), "fill a buffer");
}

/// Calls `use(offset, mark, its bytes)` at the begin and the end of the first and the last message.
template <class Use>
void for_each_mark(const CliffPoint& point, int sender, std::uint64_t nonce, Use use) {
  const std::size_t bytes = std::min(point.bytes, mark_bytes);
  const auto mark_at = [&](std::size_t place) {
    const std::uint64_t mark =
        test_support::mix(nonce ^ test_support::mix(2 * place + static_cast<std::size_t>(sender)));
    use(place, mark, bytes);
  };
  for (const std::size_t message : {std::size_t{0}, std::size_t{point.number} - 1}) {
    mark_at(point.offset_of(message));
    if (point.bytes >= 2 * mark_bytes) mark_at(point.offset_of(message) + point.bytes - bytes);
  }
}

}  // namespace

CliffExchange::CliffExchange(int rank, int device, const std::vector<CliffPoint>& points)
    : rank_(rank), device_(device) {
  constexpr std::size_t least_bytes = 1 << 20;
  largest_ = least_bytes;
  raw_bytes_ = least_bytes;
  for (const CliffPoint& point : points) {
    for (const MemoryKind kind : {point.sender_kind, point.receiver_kind}) {
      std::size_t& bytes = window_bytes_[index_of(kind)];
      bytes = std::max({bytes, point.buffer_bytes(), least_bytes});
    }
    largest_ = std::max(largest_, point.bytes);
    raw_bytes_ = std::max(raw_bytes_, point.buffer_bytes());
  }
  raw_bytes_ = std::max(std::min(raw_bytes_, most_raw_bytes), largest_);
  raw_source_ = Memory(MemoryKind::device, raw_bytes_, device);
  touch(raw_source_);
  cudaIpcMemHandle_t mine{};
  cudaIpcMemHandle_t theirs{};
  require(cudaIpcGetMemHandle(&mine, raw_source_.data()), "export memory");
  MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, 1 - rank, 1, &theirs, sizeof theirs, MPI_BYTE, 1 - rank, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  void* mapping = nullptr;
  require(cudaIpcOpenMemHandle(&mapping, theirs, cudaIpcMemLazyEnablePeerAccess),
          "map the other GPU's memory");
  peer_source_ = static_cast<std::byte*>(mapping);
  require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
}

CliffExchange::~CliffExchange() {
  cudaStreamDestroy(stream_);
  cudaIpcCloseMemHandle(peer_source_);
  meet(rank_);  // memory that is still mapped elsewhere must not be freed
}

Memory& CliffExchange::of(MemoryKind kind, Memories& memories, bool whole_window) {
  Memory& memory = memories[index_of(kind)];
  if (memory.data() == nullptr) {
    memory = Memory(kind, whole_window ? window_bytes_[index_of(kind)] : largest_, device_);
    touch(memory);
  }
  return memory;
}

Memory& CliffExchange::outgoing(const CliffPoint& point) {
  return of(point.sender_kind, outgoing_, rank_ == leader);
}

Memory& CliffExchange::incoming(const CliffPoint& point) {
  return of(point.receiver_kind, incoming_, rank_ == follower);
}

std::byte* CliffExchange::raw_memory(MemoryKind kind) {
  Memory& memory = raw_[index_of(kind)];
  if (memory.data() == nullptr) {
    memory = Memory(kind, raw_bytes_, device_);
    touch(memory);
  }
  return memory.data();
}

void CliffExchange::there_and_back(const CliffPoint& point) {
  const int other = 1 - rank_;
  const int count = static_cast<int>(point.bytes);
  std::byte* const out = outgoing(point).data();
  std::byte* const in = incoming(point).data();
  const auto send = [&] {
    if (point.blocking) {
      MPI_Send(out, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD);
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(out, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  const auto receive = [&] {
    if (point.blocking) {
      MPI_Recv(in, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(in, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  if (rank_ == leader) send();
  receive();
  if (rank_ == follower) send();
}

void CliffExchange::window(const CliffPoint& point) {
  static std::vector<MPI_Request> requests;  // kept, so that no window allocates memory
  requests.clear();
  const int other = 1 - rank_;
  const int count = static_cast<int>(point.bytes);
  std::byte* const buffer = rank_ == leader ? outgoing(point).data() : incoming(point).data();
  for (std::size_t i = 0; i < point.number; ++i) {
    std::byte* const at = buffer + point.offset_of(i);
    if (point.blocking && rank_ == leader) {
      MPI_Send(at, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD);
    } else if (point.blocking) {
      MPI_Recv(at, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank_ == leader) {
      MPI_Isend(at, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD, &requests.emplace_back());
    } else {
      MPI_Irecv(at, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD, &requests.emplace_back());
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  meet(rank_);
}

void CliffExchange::messages(const CliffPoint& point) {
  if (point.number == 1) {
    there_and_back(point);
  } else {
    window(point);
  }
}

void CliffExchange::checked_messages(const CliffPoint& point, std::uint64_t nonce) {
  if (sends(point)) {
    Memory& memory = outgoing(point);
    for_each_mark(point, rank_, nonce, [&](std::size_t place, std::uint64_t mark, std::size_t bytes) {
      memory.write(place, &mark, bytes);
    });
  }
  messages(point);
  if (!receives(point)) return;
  const Memory& memory = incoming(point);
  for_each_mark(point, 1 - rank_, nonce, [&](std::size_t place, std::uint64_t mark, std::size_t bytes) {
    std::uint64_t arrived = 0;
    memory.read(place, &arrived, bytes);
    if (std::memcmp(&arrived, &mark, bytes) == 0) return;
    std::fprintf(stderr, "%s, %zu bytes: damaged at byte %zu of what rank %d received\n",
                 series_name(point).c_str(), point.bytes, place, rank_);
    MPI_Abort(MPI_COMM_WORLD, 1);
  });
}

void CliffExchange::raw_copies(const CliffPoint& point) {
  if (rank_ != leader) return;
  const bool is_managed = point.sender_kind == MemoryKind::managed;
  const bool from_peer = point.from_device() && point.to_device() && !is_managed;
  const std::byte* const source = from_peer             ? peer_source_
                                  : is_managed          ? raw_memory(MemoryKind::managed)
                                  : point.from_device() ? raw_source_.data()
                                                        : raw_memory(point.sender_kind);
  std::byte* const target = raw_memory(is_managed          ? MemoryKind::pinned
                                       : point.to_device() ? MemoryKind::device
                                                           : point.receiver_kind);
  const std::size_t steps_that_fit =
      std::max<std::size_t>((raw_bytes_ - point.bytes) / std::max<std::size_t>(point.offset_of(1), 1), 0) + 1;
  for (std::size_t i = 0; i < point.number; ++i) {
    const std::size_t offset = point.offset_of(i % steps_that_fit);
    require(cudaMemcpyAsync(target + offset, source + offset, point.bytes, cudaMemcpyDefault, stream_),
            "copy");
    if (point.blocking) require(cudaStreamSynchronize(stream_), "wait for a copy");
  }
  require(cudaStreamSynchronize(stream_), "wait for copies");
}

}  // namespace penstock::benchmarks
