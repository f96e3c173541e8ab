// The buffer of buffered sends may be device memory.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {
namespace {

constexpr int message_elements = 1000;
constexpr int buffer_bytes = 3 * (message_elements * static_cast<int>(sizeof(int)) + MPI_BSEND_OVERHEAD);

/// Sends buffered messages from host and device memory to the other rank, and receives its own.
void exchange() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<int> sent(message_elements, 10 + rank);
  Memory device(MemoryKind::device, message_elements * sizeof(int));
  device.write(0, sent.data(), message_elements * sizeof(int));
  MPI_Bsend(sent.data(), message_elements, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Bsend(device.data(), message_elements, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
  for (int tag = 0; tag < 2; ++tag) {
    std::vector<int> received(message_elements);
    MPI_Recv(received.data(), message_elements, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(received, std::vector<int>(message_elements, 11 - rank));
  }
}

template <typename Count>
void expect_exchange_with(void* buffer, int (*attach)(void*, Count), int (*detach)(void*, Count*)) {
  ASSERT_EQ(attach(buffer, buffer_bytes), MPI_SUCCESS);
  exchange();
  void* detached = nullptr;
  Count bytes = 0;
  EXPECT_EQ(detach(static_cast<void*>(&detached), &bytes), MPI_SUCCESS);
  EXPECT_EQ(detached, buffer);
  EXPECT_EQ(bytes, buffer_bytes);
}

TEST(BufferedSends, go_through_a_buffer_of_any_memory) {
  for (const MemoryKind kind :
       {MemoryKind::device, MemoryKind::managed, MemoryKind::pageable, MemoryKind::device}) {
    const Memory buffer(kind, buffer_bytes);
    expect_exchange_with<int>(buffer.data(), MPI_Buffer_attach, MPI_Buffer_detach);
#if PENSTOCK_HAS_LARGE_COUNTS
    expect_exchange_with<MPI_Count>(buffer.data(), MPI_Buffer_attach_c, MPI_Buffer_detach_c);
#endif
  }
}

}  // namespace
}  // namespace penstock::test_support
