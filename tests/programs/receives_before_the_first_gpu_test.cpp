// Receives that are posted before any rank uses a GPU are the MPI library's, in the user's buffer: what comes
// from a device arrives in them all the same, also where they are smaller than an envelope, and what lies
// behind a message that is shorter than its receive stays. Some are over only after messages have gone on for
// a while.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

#include "tests/support/exit_code.hpp"
#include "tests/support/memory.hpp"

namespace {

using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

struct Early {
  int sent;
  int room;
  bool is_persistent = false;
  std::size_t stride = 1;  ///< bytes from one received byte to the next
};
/// Those without room for an envelope first: until they are over, no small payload comes by one.
constexpr Early in_one_piece[] = {{1, 1},   {8, 8},     {24, 24}, {16, 32, true},  {63, 63},
                                  {64, 64}, {16, 1000}, {8, 64},  {60, 100, true}, {64, 1000}};
/// There is no room for an envelope, though from the first byte to the last they are longer than one.
constexpr Early with_gaps[] = {{24, 40, false, 3}, {63, 63, true, 2}};
constexpr int early_tag = 4;  // each has one of its own, from here on
constexpr int late_tag = 20;
constexpr std::byte untouched{0x5a};

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

/// Every `stride`-th byte of `buffer` was to be received, `bytes` in all, and the rest to stay.
bool is_right(const Bytes& buffer, int bytes, int tag, std::size_t stride = 1) {
  Bytes expected(buffer.size(), untouched);
  const Bytes content = content_of(tag);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); ++i) expected[i * stride] = content[i];
  if (buffer != expected) std::printf("the receive of tag %d is wrong\n", tag);
  return buffer == expected;
}

/// Returns a type of `bytes` bytes with gaps between them, which the caller frees.
MPI_Datatype type_with_gaps(int bytes, std::size_t stride) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(bytes, 1, static_cast<int>(stride), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

/// The argument `gaps` chooses with_gaps.
int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  const std::span<const Early> early = argument_count > 1 ? std::span<const Early>(with_gaps) : in_one_piece;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<Bytes> buffers;
  std::vector<MPI_Request> requests(early.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; rank == 1 && i < early.size(); ++i) {
    const Early& one = early[i];
    const int tag = early_tag + static_cast<int>(i);
    buffers.emplace_back(static_cast<std::size_t>(one.room) * one.stride + 1, untouched);
    MPI_Datatype type = type_with_gaps(one.room, one.stride);
    if (one.is_persistent) {
      MPI_Recv_init(buffers[i].data(), 1, type, 0, tag, MPI_COMM_WORLD, &requests[i]);
      MPI_Start(&requests[i]);
    } else {
      MPI_Irecv(buffers[i].data(), 1, type, 0, tag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Type_free(&type);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (penstock::test_support::gpu_count() == 0) {
    std::puts("SKIPPED: no GPU");
    if (rank == 1)
      for (MPI_Request& request : requests) MPI_Cancel(&request);
    if (rank == 1) MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return penstock::test_support::skipped;
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
      MPI_Barrier(MPI_COMM_WORLD);  // the sender does not run ahead of what its receiver can take by now
      if (rank == 0) {
        send(memory, 8, tag);
        const auto i = static_cast<std::size_t>(round) / 5;
        if (round % 5 == 2 && i < early.size()) send(memory, early[i].sent, early_tag + round / 5);
        continue;
      }
      Bytes late(9, untouched);
      MPI_Recv(late.data(), 8, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      is_well = is_right(late, 8, tag) && is_well;
    }
    if (rank == 1) {
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      for (std::size_t i = 0; i < early.size(); ++i) {
        const Early& one = early[i];
        is_well = is_right(buffers[i], one.sent, early_tag + static_cast<int>(i), one.stride) && is_well;
        if (one.is_persistent) MPI_Request_free(&requests[i]);
      }
    }
  }
  MPI_Finalize();
  return is_well ? 0 : 1;
}
