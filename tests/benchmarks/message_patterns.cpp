#include "tests/benchmarks/message_patterns.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/benchmarks/two_ranks.hpp"
#include "tests/support/random.hpp"

namespace penstock::benchmarks {
namespace {

constexpr int message_tag = 0;

bool sends(const Point& point, int rank) {
  return (point.pattern != Pattern::window && point.pattern != Pattern::one_buffer) || rank == leader;
}

void round_trip(const Point& point, int rank, MessageBuffers& buffers) {
  const int other = 1 - rank;
  const int count = static_cast<int>(point.bytes);
  std::byte* outgoing = buffers.outgoing(point.sender_kind).data();
  std::byte* incoming = buffers.incoming(point.receiver_kind).data();
  if (rank == leader) {
    MPI_Send(outgoing, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD);
    MPI_Recv(incoming, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(incoming, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(outgoing, count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD);
  }
}

void windows(const Point& point, int rank, MessageBuffers& buffers) {
  static std::vector<MPI_Request> requests;  // kept, so that no window allocates memory
  requests.clear();
  const int other = 1 - rank;
  const int count = static_cast<int>(point.bytes);
  if (sends(point, other)) {
    std::byte* incoming = buffers.incoming(point.receiver_kind).data();
    for (std::size_t i = 0; i < point.messages(); ++i) {
      MPI_Irecv(incoming + point.offset_of(i), count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD,
                &requests.emplace_back());
    }
  }
  if (sends(point, rank)) {
    std::byte* outgoing = buffers.outgoing(point.sender_kind).data();
    for (std::size_t i = 0; i < point.messages(); ++i) {
      MPI_Isend(outgoing + point.offset_of(i), count, MPI_BYTE, other, message_tag, MPI_COMM_WORLD,
                &requests.emplace_back());
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  meet(rank);
}

using Mark = std::array<std::byte, 8>;

/// Calls `use(offset in the buffer, mark, its bytes)` for each mark of each message.
template <class Use>
void for_each_mark(const Point& point, int sender, std::uint64_t nonce, Use use) {
  const std::size_t mark_bytes = std::min(point.bytes, sizeof(Mark));
  for (std::size_t i = 0; i < point.messages(); ++i) {
    for (const std::size_t offset : {std::size_t{0}, point.bytes - mark_bytes}) {
      if (offset != 0 && offset < mark_bytes) continue;  // one that would lie over the other
      const std::size_t place = point.offset_of(i) + offset;
      const std::uint64_t value =
          test_support::mix(nonce ^ test_support::mix(2 * place + static_cast<std::size_t>(sender)));
      Mark mark;
      std::memcpy(mark.data(), &value, sizeof value);
      use(place, mark, mark_bytes);
    }
  }
}

}  // namespace

void exchange(const Point& point, int rank, MessageBuffers& buffers) {
  if (point.pattern == Pattern::half_round_trip) {
    round_trip(point, rank, buffers);
  } else {
    windows(point, rank, buffers);
  }
}

void mark(const Point& point, int rank, std::uint64_t nonce, MessageBuffers& buffers) {
  if (!sends(point, rank)) return;
  test_support::Memory& outgoing = buffers.outgoing(point.sender_kind);
  for_each_mark(point, rank, nonce, [&](std::size_t place, const Mark& expected, std::size_t bytes) {
    outgoing.write(place, expected.data(), bytes);
  });
}

void expect_marks(const Point& point, int rank, std::uint64_t nonce, MessageBuffers& buffers) {
  const int other = 1 - rank;
  if (!sends(point, other)) return;
  const test_support::Memory& incoming = buffers.incoming(point.receiver_kind);
  for_each_mark(point, other, nonce, [&](std::size_t place, const Mark& expected, std::size_t bytes) {
    Mark arrived{};
    incoming.read(place, arrived.data(), bytes);
    if (std::memcmp(arrived.data(), expected.data(), bytes) != 0) {
      std::fprintf(stderr, "%s: damaged at byte %zu of what rank %d received\n", name_of(point).c_str(),
                   place, rank);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  });
}

}  // namespace penstock::benchmarks
