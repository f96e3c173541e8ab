// Small device messages that follow each other closely, as in latency-bound programs: what arrives is looked
// at only at the end of a row of messages, so that nothing slows it down.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t row_messages = 64;
/// Around the smallest envelope, odd, whole rounds of loads, and the largest that a sender need not wait for.
constexpr std::array<std::size_t, 8> sizes = {65, 100, 1024, 1027, 4096, 9001, 16384, 65536};

/// A row of payloads in one allocation, each at an alignment of its own.
class Row {
 public:
  Row(std::uint64_t seed, bool is_filled) : memory_(MemoryKind::device, bytes(), own_device()) {
    Bytes content(bytes(), std::byte{0x5a});
    for (std::size_t i = 0; i < row_messages && is_filled; ++i) {
      const Bytes one = payload(size(i), seed + i);
      std::copy(one.begin(), one.end(), content.begin() + static_cast<std::ptrdiff_t>(offset(i)));
    }
    memory_.write(0, content.data(), content.size());
  }

  [[nodiscard]] std::byte* data(std::size_t message) const { return memory_.data() + offset(message); }
  [[nodiscard]] static int count(std::size_t message) { return static_cast<int>(size(message)); }

  /// As another rank's filled row of that seed, and not a byte more.
  void expect_same_as(std::uint64_t seed) const {
    for (std::size_t i = 0; i < row_messages; ++i) {
      Bytes content(size(i) + gap_bytes);
      memory_.read(offset(i), content.data(), content.size());
      Bytes wanted = payload(size(i), seed + i);
      wanted.resize(content.size(), std::byte{0x5a});
      ASSERT_EQ(content, wanted) << "message " << i << " of " << size(i) << " bytes";
    }
  }

 private:
  static constexpr std::size_t gap_bytes = 16;  ///< never written, whatever the alignment
  static constexpr std::size_t place_bytes = 65536 + 64;

  static std::size_t size(std::size_t message) { return sizes[message % sizes.size()]; }
  static std::size_t offset(std::size_t message) { return message * place_bytes + message % 17; }
  static std::size_t bytes() { return row_messages * place_bytes; }

  Memory memory_;
};

/// Rows of messages, with pauses and without; buffers come and go between them.
template <typename Message>
void exchange_rows(Message message) {
  const int other = 1 - rank();
  for (std::uint64_t round = 0; round < 6; ++round) {
    const Row sent(1000 * round + 100 * static_cast<std::uint64_t>(rank()), true);
    const Row received(0, false);
    MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t i = 0; i < row_messages; ++i) message(sent, received, i, other);
    if (round % 2 == 1) cudaDeviceSynchronize();
    received.expect_same_as(1000 * round + 100 * static_cast<std::uint64_t>(other));
    if (round % 3 == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(SmallMessages, back_and_forth) {
  if (rank() > 1) return;
  exchange_rows([](const Row& sent, const Row& received, std::size_t i, int other) {
    const auto send = [&] {
      MPI_Send(sent.data(i), Row::count(i), MPI_BYTE, other, static_cast<int>(i), MPI_COMM_WORLD);
    };
    if (rank() == 0) send();
    MPI_Recv(received.data(i), Row::count(i), MPI_BYTE, other, static_cast<int>(i), MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (rank() == 1) send();
  });
}

TEST(SmallMessages, both_ways_at_once) {
  if (rank() > 1) return;
  exchange_rows([](const Row& sent, const Row& received, std::size_t i, int other) {
    MPI_Sendrecv(sent.data(i), Row::count(i), MPI_BYTE, other, 7, received.data(i), Row::count(i), MPI_BYTE,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
}

void post_ahead_and_wait(const Row& sent, const Row& received, std::size_t i, int other) {
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(received.data(i), Row::count(i), MPI_BYTE, other, 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent.data(i), Row::count(i), MPI_BYTE, other, 8, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

TEST(SmallMessages, posted_ahead_and_waited_for_together) {
  if (rank() <= 1) exchange_rows(post_ahead_and_wait);
}

/// From rank 0 to rank 1 and the answer back, between memory of its own kind on each.
void round_trip(const Buffer& sent, const Buffer& received, int tag) {
  const auto send = [&] { MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD); };
  MPI_Status status;
  int count = 0;
  if (rank() == 0) send();
  MPI_Recv(received.data(), received.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, &status);
  if (rank() == 1) send();
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(count, received.count());
}

TEST(SmallMessages, of_one_tag_into_host_memory_and_into_devices_in_turns) {
  if (rank() > 1) return;
  constexpr std::array kinds = {MemoryKind::pageable, MemoryKind::pageable, MemoryKind::pageable,
                                MemoryKind::device,   MemoryKind::device,   MemoryKind::pinned,
                                MemoryKind::pinned,   MemoryKind::device,   MemoryKind::managed};
  for (const std::size_t bytes : {8u, 63u, 64u, 65u, 1000u, 4096u, 4097u}) {
    std::uint64_t seed = bytes;
    for (const MemoryKind kind : kinds) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes into kind " << static_cast<int>(kind));
      ++seed;
      const Buffer sent(MemoryKind::device, bytes, seed + 100 * static_cast<std::uint64_t>(rank()));
      const Buffer received(kind, bytes);
      for (int again = 0; again < 12; ++again) round_trip(sent, received, 3);
      EXPECT_EQ(received.read(), payload(bytes, seed + 100 * static_cast<std::uint64_t>(1 - rank())));
      EXPECT_TRUE(received.guard_is_intact());
    }
  }
}

TEST(SmallMessages, of_memory_that_cannot_be_exported) {
  if (rank() > 1) return;
  constexpr std::array kinds = {MemoryKind::async_pool, MemoryKind::virtual_memory, MemoryKind::managed};
  for (const MemoryKind kind : kinds) {
    for (const std::size_t bytes : {8u, 63u, 64u, 65u, 1000u, 4096u, 4097u}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes from kind " << static_cast<int>(kind));
      std::deque<Buffer> sent;
      std::deque<Buffer> received;
      for (std::uint64_t i = 0; i < 24; ++i) {
        sent.emplace_back(kind, bytes, 100 * i + static_cast<std::uint64_t>(rank()));
        received.emplace_back(i % 2 == 0 ? MemoryKind::device : kind, bytes);
      }
      for (std::size_t i = 0; i < sent.size(); ++i) round_trip(sent[i], received[i], 4);
      for (std::size_t i = 0; i < sent.size(); ++i) {
        EXPECT_EQ(received[i].read(), payload(bytes, 100 * i + static_cast<std::uint64_t>(1 - rank()))) << i;
        EXPECT_TRUE(received[i].guard_is_intact());
      }
    }
  }
}

TEST(SmallMessages, larger_ones_back_and_forth) {
  if (rank() > 1) return;
  for (const std::size_t bytes : {33'000u, 65'537u, 99'999u, 300'000u, 1u << 20, 4u << 20, (4u << 20) + 1}) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes");
    const Buffer sent(MemoryKind::device, bytes, bytes + static_cast<std::uint64_t>(rank()));
    const Buffer received(MemoryKind::device, bytes);
    for (int again = 0; again < 24; ++again) round_trip(sent, received, again % 3);
    EXPECT_TRUE(received.read() == payload(bytes, bytes + static_cast<std::uint64_t>(1 - rank())));
    EXPECT_TRUE(received.guard_is_intact());
  }
}

TEST(SmallMessages, behind_work_that_the_application_has_queued) {
  if (rank() > 1) return;
  exchange_rows([](const Row& sent, const Row& received, std::size_t i, int other) {
    // what the receive writes must come after what was queued for the same bytes before it
    cudaMemsetAsync(received.data(i), 0x77, static_cast<std::size_t>(Row::count(i)));
    MPI_Sendrecv(sent.data(i), Row::count(i), MPI_BYTE, other, 9, received.data(i), Row::count(i), MPI_BYTE,
                 other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
}

/// MPI_Initialized and some others may be called by any thread at any time, whatever level was asked for.
TEST(SmallMessages, arrive_while_another_thread_asks_whether_MPI_is_initialised) {
  std::atomic<bool> is_over{false};
  std::thread bystander([&] {
    for (int flag = 0; !is_over;) MPI_Initialized(&flag);
  });
  if (rank() <= 1) exchange_rows(post_ahead_and_wait);
  is_over = true;
  bystander.join();
}

}  // namespace
}  // namespace penstock::programs
