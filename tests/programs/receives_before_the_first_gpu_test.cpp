// Receives that are posted before any rank uses a GPU are the MPI library's, in the user's buffer: what comes
// from a device arrives in them all the same, also where they are smaller than an envelope. One is over only
// after messages have gone on for a while.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/support/memory.hpp"

namespace {

using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

constexpr std::array<int, 5> sizes = {1, 8, 24, 63, 64};
constexpr int early_tag = 4;  // each size has one of its own, from here on
constexpr int late_tag = 20;

using Bytes = std::vector<std::byte>;

Bytes content_of(int tag) {
  Bytes content(64);
  for (std::size_t i = 0; i < content.size(); ++i)
    content[i] = static_cast<std::byte>(i * 7 + static_cast<unsigned>(tag));
  return content;
}

void send(Memory& memory, int bytes, int tag) {
  const Bytes content = content_of(tag);
  memory.write(0, content.data(), content.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(memory.data(), bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// `buffer` has a byte more than was to be received.
bool is_right(const Bytes& buffer, int tag) {
  const std::size_t bytes = buffer.size() - 1;
  const bool holds = std::memcmp(buffer.data(), content_of(tag).data(), bytes) == 0;
  if (!holds || buffer.back() != std::byte{0}) std::printf("the receive of tag %d is wrong\n", tag);
  return holds && buffer.back() == std::byte{0};
}

}  // namespace

int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<Bytes> early;
  std::array<MPI_Request, sizes.size()> requests{};
  for (std::size_t i = 0; rank == 1 && i < sizes.size(); ++i) {
    early.emplace_back(static_cast<std::size_t>(sizes[i]) + 1);
    MPI_Irecv(early[i].data(), sizes[i], MPI_BYTE, 0, early_tag + static_cast<int>(i), MPI_COMM_WORLD,
              &requests[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (penstock::test_support::gpu_count() == 0) {
    std::puts("SKIPPED: no GPU");
    if (rank == 1)
      for (MPI_Request& request : requests) MPI_Cancel(&request);
    if (rank == 1) MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
  }
  bool is_well = true;
  {
    Memory memory(MemoryKind::device, 64, rank % penstock::test_support::gpu_count());
    const Memory others(MemoryKind::device, 64, rank % penstock::test_support::gpu_count());
    // so that both know that GPUs are used
    MPI_Sendrecv(memory.data(), 64, MPI_BYTE, 1 - rank, 1, others.data(), 64, MPI_BYTE, 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int round = 0; round < 50; ++round) {
      const int tag = late_tag + round;
      if (rank == 0) {
        send(memory, 8, tag);
        if (round % 10 == 5)
          send(memory, sizes[static_cast<std::size_t>(round) / 10], early_tag + round / 10);
        continue;
      }
      Bytes late(9);
      MPI_Recv(late.data(), 8, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      is_well = is_right(late, tag) && is_well;
    }
    if (rank == 1) {
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      for (std::size_t i = 0; i < sizes.size(); ++i)
        is_well = is_right(early[i], early_tag + static_cast<int>(i)) && is_well;
    }
  }
  MPI_Finalize();
  return is_well ? 0 : 1;
}
