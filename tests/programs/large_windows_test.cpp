// Windows of payloads of which each takes several chunks or copies, between every two kinds of memory, each
// in a buffer of its own: receivers that are there, and receivers that come late.
#include <unistd.h>

#include <deque>
#include <vector>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr int window = 8;

/// What goes together with others of its time, what is cut nowhere, and sizes that no chunk divides.
constexpr std::size_t sizes[] = {60'000, 200'001, 300'000, (1u << 20) + 1, (3u << 20) + 5};

std::uint64_t seed_of(std::size_t bytes, int message) {
  return 100 * bytes + static_cast<std::uint64_t>(message);
}

/// `delay_us`: after the window was sent, before it is received.
void exchange_window(MemoryKind source, MemoryKind destination, std::size_t bytes, useconds_t delay_us) {
  SCOPED_TRACE(testing::Message() << name_of(source) << " to " << name_of(destination) << ", " << bytes);
  std::deque<Buffer> buffers;
  std::vector<MPI_Request> requests(window);
  for (int i = 0; i < window; ++i) buffers.emplace_back(rank() == 0 ? source : destination, bytes);
  if (rank() == 0) {
    for (int i = 0; i < window; ++i) {
      Buffer& buffer = buffers[static_cast<std::size_t>(i)];
      buffer.write(payload(bytes, seed_of(bytes, i)));
      MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, i, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(i)]);
    }
  } else {
    usleep(delay_us);
    for (int i = 0; i < window; ++i) {
      const Buffer& buffer = buffers[static_cast<std::size_t>(i)];
      MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, i, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(i)]);
    }
  }
  ASSERT_EQ(MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  for (int i = 0; rank() == 1 && i < window; ++i) {
    const Buffer& buffer = buffers[static_cast<std::size_t>(i)];
    EXPECT_EQ(buffer.read(), payload(bytes, seed_of(bytes, i))) << "message " << i;
    EXPECT_TRUE(buffer.guard_is_intact()) << "message " << i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void exchange_windows(useconds_t delay_us) {
  if (rank() > 1) return;
  for (const MemoryKind source : {MemoryKind::device, MemoryKind::pageable, MemoryKind::managed}) {
    for (const MemoryKind destination : {MemoryKind::device, MemoryKind::pageable, MemoryKind::managed}) {
      for (const std::size_t bytes : sizes) exchange_window(source, destination, bytes, delay_us);
    }
  }
}

TEST(LargeWindows, arrive_whole) {
  exchange_windows(0);
}

TEST(LargeWindows, arrive_whole_at_a_receiver_that_comes_late) {
  exchange_windows(20'000);
}

}  // namespace
}  // namespace penstock::programs
