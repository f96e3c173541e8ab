// Programs that rely on what MPI promises and seldom gets tested: standard sends that complete by themselves,
// and requests that nobody ever looks at again.
#include <array>
#include <chrono>
#include <thread>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

TEST(LazyPrograms, standard_sends_of_up_to_64_KiB_complete_with_no_receive_posted) {
  constexpr std::array sizes = {1, 64, 65, 4096, 65535, 65536};
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::async_pool, MemoryKind::managed}) {
    SCOPED_TRACE(name_of(kind));
    if (rank() == 0) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        Buffer buffer(kind, static_cast<std::size_t>(sizes[i]), 100 + i);
        MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, static_cast<int>(i), MPI_COMM_WORLD);
        buffer.write(payload(static_cast<std::size_t>(sizes[i]), 999));  // the buffer is the program's again
      }
    }
    // rank 1 enters MPI, but posts no receive before all sends are over
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 1) {
      for (std::size_t i = sizes.size(); i-- > 0;) {
        const Buffer buffer(kind, static_cast<std::size_t>(sizes[i]), 200);
        MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, static_cast<int>(i), MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        EXPECT_EQ(buffer.read(), payload(static_cast<std::size_t>(sizes[i]), 100 + i))
            << sizes[i] << " bytes";
      }
    }
  }
}

TEST(LazyPrograms, they_do_so_also_where_earlier_ones_went_to_host_memory) {
  for (const std::size_t bytes : {64u, 4000u, 4096u, 65536u}) {
    // the first ones tell where they go, so that the last ones may take another way
    for (std::uint64_t round = 0; round < 4; ++round) {
      const Buffer sent(MemoryKind::device, bytes, round);
      const Buffer received(MemoryKind::pageable, bytes, 999);
      if (rank() == 0) MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() != 1) continue;
      MPI_Recv(received.data(), received.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(received.read(), payload(bytes, round)) << bytes << " bytes";
    }
  }
}

TEST(LazyPrograms, many_standard_sends_complete_with_no_receive_posted) {
  constexpr int messages = 200;
  constexpr std::size_t bytes = 16384;
  if (rank() == 0) {
    Buffer buffer(MemoryKind::device, bytes);
    for (int i = 0; i < messages; ++i) {
      buffer.write(payload(bytes, 300 + static_cast<std::uint64_t>(i)));
      MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 1) {
    const Buffer buffer(MemoryKind::device, bytes);
    for (int i = 0; i < messages; ++i) {
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ASSERT_EQ(buffer.read(), payload(bytes, 300 + static_cast<std::uint64_t>(i))) << "message " << i;
    }
  }
}

TEST(LazyPrograms, more_sends_at_once_than_there_are_slots_are_delivered_to_a_late_receiver) {
  constexpr std::size_t messages = 1100;
  constexpr std::size_t bytes = 128;
  const Buffer buffer(MemoryKind::device, messages * bytes, rank() == 0 ? 350 : 0);
  std::vector<MPI_Request> requests(messages, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < messages && rank() == 0; ++i)
    MPI_Isend(buffer.data() + i * bytes, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::size_t i = 0; i < messages && rank() == 1; ++i)
    MPI_Recv(buffer.data() + i * bytes, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  if (rank() == 1) {
    EXPECT_TRUE(buffer.read() == payload(messages * bytes, 350));
  }
}

TEST(LazyPrograms, two_ranks_that_both_send_before_they_receive_do_not_deadlock_up_to_64_KiB) {
  if (rank() > 1) return;
  const Buffer sent(MemoryKind::device, 65536, 400 + static_cast<std::uint64_t>(rank()));
  const Buffer received(MemoryKind::device, 65536);
  MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), 1, MPI_COMM_WORLD);
  MPI_Recv(received.data(), received.count(), MPI_BYTE, 1 - rank(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQ(received.read(), payload(65536, 400 + static_cast<std::uint64_t>(1 - rank())));
}

TEST(LazyPrograms, a_large_send_to_a_very_late_receiver_is_delivered_as_it_was_when_sent) {
  if (rank() == 0) {
    Buffer buffer(MemoryKind::device, 4 << 20, 500);
    MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    buffer.write(payload(4 << 20, 501));
  } else if (rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    const Buffer buffer(MemoryKind::device, 4 << 20);
    MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(buffer.read(), payload(4 << 20, 500));
  }
}

TEST(LazyPrograms, sends_whose_requests_are_freed_at_once_are_delivered) {
  constexpr std::array<std::size_t, 4> sizes = {10, 5000, 70000, 1 << 20};
  std::vector<Buffer> buffers;
  for (const std::size_t bytes : sizes) {
    buffers.emplace_back(MemoryKind::device, bytes, rank() == 0 ? 600 + bytes : 0);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int tag = static_cast<int>(i);
    if (rank() == 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(buffers[i].data(), buffers[i].count(), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
      EXPECT_EQ(request, MPI_REQUEST_NULL);
    } else if (rank() == 1) {
      MPI_Recv(buffers[i].data(), buffers[i].count(), MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffers[i].read(), payload(sizes[i], 600 + sizes[i])) << sizes[i] << " bytes";
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);  // the buffers live until everything has arrived
}

TEST(LazyPrograms, a_receive_whose_request_is_freed_still_fills_its_buffer) {
  constexpr std::size_t bytes = 300000;
  const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 700 : 0);
  if (rank() == 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) MPI_Ssend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  if (rank() == 1) {
    // all MPI promises is that it arrives, not when (the watchdog bounds it); calls that have nothing to do
    // with it drive progress
    while (buffer.read() != payload(bytes, 700)) {
      int flag = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    EXPECT_EQ(buffer.read(), payload(bytes, 700));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(LazyPrograms, sends_whose_requests_are_dropped_are_delivered_and_finalize_returns) {
  // that MPI_Finalize returns is seen by the program's end
  constexpr std::array<std::size_t, 3> sizes = {5000, 70000, 1 << 20};
  static std::vector<Buffer> buffers;  // until MPI_Finalize, as the standard demands of such programs
  for (const std::size_t bytes : sizes) buffers.emplace_back(MemoryKind::device, bytes, 800 + bytes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (rank() == 0) {
      MPI_Request dropped = MPI_REQUEST_NULL;
      MPI_Isend(buffers[i].data(), buffers[i].count(), MPI_BYTE, 1, static_cast<int>(i), MPI_COMM_WORLD,
                &dropped);
    } else if (rank() == 1) {
      buffers[i].write(payload(sizes[i], 1));
      MPI_Recv(buffers[i].data(), buffers[i].count(), MPI_BYTE, 0, static_cast<int>(i), MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      EXPECT_EQ(buffers[i].read(), payload(sizes[i], 800 + sizes[i])) << sizes[i] << " bytes";
    }
  }
}

TEST(LazyPrograms, thousands_of_sends_may_be_outstanding_and_be_received_in_any_order) {
  // more than there are slots for
  constexpr int messages = 3000;
  constexpr std::size_t bytes = 1000;
  const Buffer buffer(MemoryKind::device, messages * bytes, rank() == 0 ? 450 : 0);
  std::vector<MPI_Request> requests(messages, MPI_REQUEST_NULL);
  const auto part = [&](int i) { return buffer.data() + static_cast<std::size_t>(i) * bytes; };
  if (rank() == 0) {
    for (int i = 0; i < messages; ++i) {
      MPI_Isend(part(i), static_cast<int>(bytes), MPI_BYTE, 1, i, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(i)]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 1) {
    for (int i = messages; i-- > 0;) {
      MPI_Irecv(part(i), static_cast<int>(bytes), MPI_BYTE, 0, i, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(i)]);
    }
  }
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  if (rank() == 1) {
    EXPECT_EQ(buffer.read(), payload(messages * bytes, 450));
  }
}

void send_on_a_communicator_that_is_freed(MemoryKind from, MemoryKind to, std::size_t bytes, int source) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes from " << name_of(from) << " to " << name_of(to));
  const int other = 1 - rank();
  const Buffer sent(from, bytes, 460 + static_cast<std::uint64_t>(rank()));
  const Buffer received(to, bytes);
  MPI_Comm duplicate = MPI_COMM_NULL;
  std::array<MPI_Request, 2> requests{};
  std::array<MPI_Status, 2> statuses{};
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Irecv(received.data(), received.count(), MPI_BYTE, source, 1, duplicate, &requests[0]);
  MPI_Isend(sent.data(), sent.count(), MPI_BYTE, other, 1, duplicate, &requests[1]);
  MPI_Comm_free(&duplicate);
  MPI_Waitall(2, requests.data(), statuses.data());
  EXPECT_EQ(statuses[0].MPI_SOURCE, other);
  EXPECT_EQ(received.read(), payload(bytes, 460 + static_cast<std::uint64_t>(other)));
}

TEST(LazyPrograms, a_communicator_may_be_freed_while_its_messages_are_under_way) {
  for (const MemoryKind from : {MemoryKind::device, MemoryKind::pageable}) {
    for (const MemoryKind to : {MemoryKind::device, MemoryKind::pageable}) {
      for (const std::size_t bytes : {100u, 4096u, 300'000u}) {
        for (const int source : {1 - rank(), int{MPI_ANY_SOURCE}})
          send_on_a_communicator_that_is_freed(from, to, bytes, source);
      }
    }
  }
}

TEST(LazyPrograms, persistent_requests_outlive_their_communicators_handle) {
  constexpr std::size_t bytes = 300000;
  const int other = 1 - rank();
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pageable}) {
    SCOPED_TRACE(name_of(kind));
    Buffer sent(kind, bytes);
    const Buffer received(kind, bytes);
    MPI_Comm duplicate = MPI_COMM_NULL;
    std::array<MPI_Request, 2> requests{};
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Recv_init(received.data(), received.count(), MPI_BYTE, other, 1, duplicate, &requests[0]);
    MPI_Send_init(sent.data(), sent.count(), MPI_BYTE, other, 1, duplicate, &requests[1]);
    MPI_Comm_free(&duplicate);
    EXPECT_EQ(duplicate, MPI_COMM_NULL);
    for (std::uint64_t round = 0; round < 3; ++round) {
      sent.write(payload(bytes, 10 * round + static_cast<std::uint64_t>(rank())));
      MPI_Startall(2, requests.data());
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      EXPECT_EQ(received.read(), payload(bytes, 10 * round + static_cast<std::uint64_t>(other)));
    }
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
}

TEST(LazyPrograms, an_error_of_a_message_whose_communicator_is_gone_is_returned) {
  const ErrorsReturned returned;
  constexpr std::size_t bytes = 300000;
  const Buffer buffer(MemoryKind::device, bytes);
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  if (rank() == 0) {
    MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, duplicate, &request);
  } else {
    MPI_Irecv(buffer.data(), buffer.count() / 2, MPI_BYTE, 0, 1, duplicate, &request);
  }
  MPI_Comm_free(&duplicate);
  const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(class_of(code), rank() == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
}

TEST(LazyPrograms, a_cancelled_send_is_either_cancelled_or_delivered) {
  constexpr std::size_t bytes = 300000;
  const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 470 : 0);
  if (rank() == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    int cancelled = 0;
    MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    MPI_Send(&cancelled, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  } else if (rank() == 1) {
    // the sender says which, but may need its receiver to find out
    int delivered = 0;
    int said = 0;
    while (said == 0) {
      int arrived = 0;
      MPI_Iprobe(0, 2, MPI_COMM_WORLD, &said, MPI_STATUS_IGNORE);
      MPI_Iprobe(0, 1, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
      if (arrived == 0) continue;
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffer.read(), payload(bytes, 470));
      ++delivered;
    }
    int cancelled = 0;
    MPI_Recv(&cancelled, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(delivered, cancelled == 0 ? 1 : 0);
  }
}

TEST(LazyPrograms, MPI_Cancel_of_an_unmatched_device_receive_leaves_the_buffer_alone) {
  const Buffer buffer(MemoryKind::device, 70000, 900);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  int cancelled = 0;
  MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT_EQ(cancelled, 1);
  EXPECT_EQ(buffer.read(), payload(70000, 900));
}

TEST(LazyPrograms, MPI_Request_get_status_sees_completion_without_freeing_the_request) {
  constexpr std::size_t bytes = 300000;
  const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 950 : 0);
  if (rank() == 0) {
    MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else if (rank() == 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    for (int flag = 0; flag == 0;) MPI_Request_get_status(request, &flag, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, static_cast<int>(bytes));
    EXPECT_EQ(status.MPI_SOURCE, 0);
    EXPECT_EQ(buffer.read(), payload(bytes, 950));
    EXPECT_NE(request, MPI_REQUEST_NULL);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, static_cast<int>(bytes));
  }
}

}  // namespace
}  // namespace penstock::programs
