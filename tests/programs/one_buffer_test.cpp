// A whole window of receives into one host buffer, as bandwidth benchmarks post it. All messages of a window
// hold the same bytes, so that the order in which they are written does not matter.
#include <array>
#include <functional>
#include <vector>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr int rounds = 3;

using Requests = std::vector<MPI_Request>;

enum class Tags : bool { equal, different };

int tag_of(Tags tags, int message) {
  return tags == Tags::equal ? 7 : 100 + message;
}

void wait_for_all(Requests& requests, int bytes) {
  std::vector<MPI_Status> statuses(requests.size());
  ASSERT_EQ(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data()), MPI_SUCCESS);
  for (const MPI_Status& status : statuses) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, bytes);
  }
}

void wait_for_any(Requests& requests, int bytes) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    int index = MPI_UNDEFINED;
    int count = 0;
    MPI_Status status;
    ASSERT_EQ(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, bytes);
  }
}

void test_last_first(Requests& requests, int bytes) {
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    int flag = 0;
    int count = 0;
    MPI_Status status;
    while (flag == 0) ASSERT_EQ(MPI_Test(&*request, &flag, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, bytes);
  }
}

using Complete = void (*)(Requests& requests, int bytes);

struct Pattern {
  MemoryKind source = MemoryKind::device;
  MemoryKind destination = MemoryKind::pageable;
  Tags tags = Tags::equal;
  Complete complete = wait_for_all;
  bool is_posted_first = true;  ///< receives, before the messages are sent
  bool alternates = false;      ///< every second message is from host memory
  bool sends_block = false;     ///< and the last receive does, while the others are pending
};

void acknowledge() {
  char byte = 0;
  if (rank() == 1) MPI_Send(&byte, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  if (rank() == 0) MPI_Recv(&byte, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void send_window(const Pattern& pattern, const Buffer& sent, const Buffer& from_host, int window) {
  Requests requests(static_cast<std::size_t>(window));
  for (int i = 0; i < window; ++i) {
    const Buffer& source = pattern.alternates && i % 2 == 1 ? from_host : sent;
    // different tags in the reverse order, so that messages come in another order than receives were posted
    // in
    const int tag = tag_of(pattern.tags, window - 1 - i);
    MPI_Request& request = requests[static_cast<std::size_t>(i)];
    if (pattern.sends_block) {
      MPI_Send(source.data(), source.count(), MPI_BYTE, 1, tag, MPI_COMM_WORLD);
      request = MPI_REQUEST_NULL;
    } else {
      MPI_Isend(source.data(), source.count(), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
    }
  }
  MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
}

void receive_window(const Pattern& pattern, const Buffer& received, int window) {
  const int posted = pattern.sends_block ? window - 1 : window;
  Requests requests(static_cast<std::size_t>(posted));
  for (int i = 0; i < posted; ++i) {
    MPI_Irecv(received.data(), received.count(), MPI_BYTE, 0, tag_of(pattern.tags, i), MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
  }
  if (pattern.is_posted_first) MPI_Barrier(MPI_COMM_WORLD);
  if (pattern.sends_block) {
    MPI_Recv(received.data(), received.count(), MPI_BYTE, 0, tag_of(pattern.tags, posted), MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  pattern.complete(requests, received.count());
}

void exchange_windows_of(const Pattern& pattern, const std::vector<int>& windows,
                         const std::vector<std::size_t>& sizes) {
  if (rank() > 1) return;
  for (const std::size_t bytes : sizes) {
    for (const int window : windows) {
      SCOPED_TRACE(testing::Message() << window << " messages of " << bytes << " bytes");
      Buffer buffer(rank() == 0 ? pattern.source : pattern.destination, bytes);
      Buffer from_host(MemoryKind::pageable, bytes);
      for (int round = 0; round < rounds; ++round) {
        const Bytes content = payload(bytes, 1000 * bytes + static_cast<std::uint64_t>(10 * window + round));
        if (rank() == 0) {
          buffer.write(content);
          from_host.write(content);
          if (pattern.is_posted_first) MPI_Barrier(MPI_COMM_WORLD);
          send_window(pattern, buffer, from_host, window);
        } else {
          receive_window(pattern, buffer, window);
          EXPECT_EQ(buffer.read(), content) << "round " << round;
          EXPECT_TRUE(buffer.guard_is_intact());
        }
        acknowledge();
      }
    }
  }
}

void exchange_windows(const Pattern& pattern) {
  exchange_windows_of(pattern, {4, 16, 64}, {64, 100, 1024, 65536, 1u << 20});
}

void exchange_by_all_ways_to_complete(Pattern pattern) {
  for (const Tags tags : {Tags::equal, Tags::different}) {
    for (const Complete complete : {wait_for_all, wait_for_any, test_last_first}) {
      pattern.tags = tags;
      pattern.complete = complete;
      exchange_windows(pattern);
    }
  }
}

TEST(OneBuffer, of_pageable_memory_takes_a_window_from_a_device) {
  exchange_by_all_ways_to_complete({});
}

TEST(OneBuffer, of_pinned_memory_takes_a_window_from_a_device) {
  exchange_by_all_ways_to_complete({.destination = MemoryKind::pinned});
}

TEST(OneBuffer, takes_a_window_that_has_come_before_it_is_posted) {
  exchange_by_all_ways_to_complete({.is_posted_first = false});
}

TEST(OneBuffer, takes_a_window_from_a_device_and_from_host_memory_in_turns) {
  exchange_by_all_ways_to_complete({.alternates = true});
}

TEST(OneBuffer, of_a_device_takes_a_window) {
  exchange_by_all_ways_to_complete({.destination = MemoryKind::device});
  exchange_windows({.source = MemoryKind::pinned, .destination = MemoryKind::device});
}

TEST(OneBuffer, of_every_kind_takes_a_window_from_every_kind) {
  if (rank() > 1) return;
  for (const MemoryKind source : test_support::memory_kinds) {
    for (const MemoryKind destination : test_support::memory_kinds) {
      for (const Tags tags : {Tags::equal, Tags::different})
        exchange_windows_of({.source = source, .destination = destination, .tags = tags}, {16}, {100, 65537});
    }
  }
}

/// Sends and receives that block: the receives that are pending are of the same buffer.
TEST(OneBuffer, takes_blocking_receives_while_others_are_pending) {
  exchange_windows({.sends_block = true});
  exchange_windows({.destination = MemoryKind::pinned, .tags = Tags::different, .sends_block = true});
}

/// Receives of different lengths at different places of one buffer, some of which touch only one another.
TEST(OneBuffer, takes_receives_that_overlap_in_part) {
  if (rank() > 1) return;
  struct Part {
    std::size_t offset;
    std::size_t bytes;
  };
  constexpr std::array<Part, 6> parts = {Part{0, 3000}, {8000, 3000},      {2000, 7000},
                                         {2500, 10},    {10'000, 100'000}, {500, 60'000}};
  constexpr std::size_t all = 120'000;
  for (int round = 0; round < rounds; ++round) {
    Buffer buffer(rank() == 0 ? MemoryKind::device : MemoryKind::pageable, all, 1);
    const Bytes content = payload(all, 77 + static_cast<std::uint64_t>(round));
    Requests requests(parts.size());
    if (rank() == 0) buffer.write(content);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto [offset, bytes] = parts[i];
      const int tag = static_cast<int>(i);
      if (rank() == 0) {
        MPI_Isend(buffer.data() + offset, static_cast<int>(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD,
                  &requests[i]);
      } else {
        MPI_Irecv(buffer.data() + offset, static_cast<int>(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD,
                  &requests[i]);
      }
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    acknowledge();
    if (rank() == 0) continue;
    const Bytes received = buffer.read();
    for (const auto& [offset, bytes] : parts) {
      const auto begin = static_cast<std::ptrdiff_t>(offset);
      const auto end = static_cast<std::ptrdiff_t>(offset + bytes);
      EXPECT_EQ(Bytes(received.begin() + begin, received.begin() + end),
                Bytes(content.begin() + begin, content.begin() + end));
    }
  }
}

/// Columns of a matrix: each receive's bytes lie between those of the others.
TEST(OneBuffer, takes_columns_that_lie_between_each_other) {
  if (rank() > 1) return;
  constexpr int rows = 200;
  constexpr int columns = 16;
  constexpr int bytes = rows * columns * static_cast<int>(sizeof(double));
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int round = 0; round < rounds; ++round) {
    Buffer matrix(rank() == 0 ? MemoryKind::device : MemoryKind::pageable, bytes, 1);
    const Bytes content = payload(bytes, 99 + static_cast<std::uint64_t>(round));
    if (rank() == 0) matrix.write(content);
    Requests requests(columns);
    for (int i = 0; i < columns; ++i) {
      std::byte* const first = matrix.data() + static_cast<std::size_t>(i) * sizeof(double);
      MPI_Request& request = requests[static_cast<std::size_t>(i)];
      if (rank() == 0) MPI_Isend(first, 1, column, 1, i, MPI_COMM_WORLD, &request);
      if (rank() == 1) MPI_Irecv(first, 1, column, 0, i, MPI_COMM_WORLD, &request);
    }
    MPI_Waitall(columns, requests.data(), MPI_STATUSES_IGNORE);
    acknowledge();
    if (rank() == 1) {
      EXPECT_EQ(matrix.read(), content);
    }
  }
  MPI_Type_free(&column);
}

/// A receive is pending while others into the same memory come and go, and gets its message last.
TEST(OneBuffer, keeps_a_receive_pending_while_others_are_received_over_it) {
  if (rank() > 1) return;
  constexpr std::size_t bytes = 100'000;
  Buffer buffer(rank() == 0 ? MemoryKind::device : MemoryKind::pageable, bytes, 5);
  const Bytes content = payload(bytes, 5);
  MPI_Request first = MPI_REQUEST_NULL;
  if (rank() == 1) MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &first);
  for (int i = 0; i < 20; ++i) {
    acknowledge();
    if (rank() == 0) {
      MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    } else {
      buffer.write(payload(bytes, 6));
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ASSERT_EQ(buffer.read(), content) << "message " << i;
    }
  }
  if (rank() == 1) buffer.write(payload(bytes, 6));
  acknowledge();  // from now on the first receive may write there
  if (rank() == 0) {
    MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else {
    ASSERT_EQ(MPI_Wait(&first, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(buffer.read(), content);
  }
}

TEST(OneBuffer, takes_started_receives_again_and_again) {
  if (rank() > 1) return;
  constexpr std::size_t bytes = 10'000;
  constexpr int window = 16;
  Buffer buffer(rank() == 0 ? MemoryKind::device : MemoryKind::pinned, bytes, 5);
  Requests requests(window);
  for (MPI_Request& request : requests) {
    if (rank() == 0) MPI_Send_init(buffer.data(), buffer.count(), MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
    if (rank() == 1) MPI_Recv_init(buffer.data(), buffer.count(), MPI_BYTE, 0, 3, MPI_COMM_WORLD, &request);
  }
  for (int round = 0; round < 20; ++round) {
    const Bytes content = payload(bytes, static_cast<std::uint64_t>(round));
    if (rank() == 0) buffer.write(content);
    MPI_Startall(window, requests.data());
    MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
    if (rank() == 1) {
      EXPECT_EQ(buffer.read(), content) << "round " << round;
    }
    acknowledge();
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

}  // namespace
}  // namespace penstock::programs
