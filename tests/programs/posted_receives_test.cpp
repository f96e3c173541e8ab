// Receives that are posted before their messages are sent are written by their senders, and what is not is
// delivered the usual way. Runs with PENSTOCK_POSTED_RECEIVES=1, on two ranks.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

#include "tests/programs/posted_receives.hpp"
#include "tests/support/busy_gpu.hpp"

namespace penstock::programs {
namespace {

TEST_F(PostedReceives, are_written_by_their_senders) {
  for (const std::size_t bytes : {64u, 65u, 1000u, 4096u, 65536u, 65537u, 1u << 20, 5u << 20}) {
    exchange(bytes);
    expect_written(1);
  }
}

TEST_F(PostedReceives, are_written_from_memory_that_no_other_process_can_map) {
  exchange(large, MemoryKind::async_pool);
  exchange(large, MemoryKind::virtual_memory);
  expect_written(2);
}

TEST_F(PostedReceives, in_other_memory_get_their_messages_the_usual_way) {
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::async_pool,
                                MemoryKind::managed, MemoryKind::virtual_memory}) {
    exchange(large, MemoryKind::device, kind);
    exchange(100, MemoryKind::device, kind);
  }
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::managed}) {
    exchange(large, kind);
    exchange(100, kind);
  }
  expect_written(0);
  exchange(large);
  expect_written(1);
}

TEST_F(PostedReceives, after_their_messages_get_them_the_usual_way) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 1 : 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) request = send(buffer);
  meet();
  if (rank() == 1) request = receive(buffer);
  wait(request);
  if (rank() == 1) {
    EXPECT_TRUE(buffer.read() == payload(large, 1));
  }
  expect_written(0);
  exchange(large);
  expect_written(1);
}

TEST_F(PostedReceives, are_written_by_blocking_and_synchronous_sends) {
  const auto run = [&](auto send_now) {
    const Buffer buffer(MemoryKind::device, 4096, rank() == 0 ? 1 : 2);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 1) request = receive(buffer);
    meet();
    if (rank() == 0) send_now(buffer);
    wait(request);
    if (rank() == 1) {
      EXPECT_TRUE(buffer.read() == payload(4096, 1));
    }
  };
  run([&](const Buffer& buffer) {
    MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, tag, communicator_);
  });
  run([&](const Buffer& buffer) {
    MPI_Ssend(buffer.data(), buffer.count(), MPI_BYTE, 1, tag, communicator_);
  });
  run([&](const Buffer& buffer) {
    MPI_Rsend(buffer.data(), buffer.count(), MPI_BYTE, 1, tag, communicator_);
  });
  expect_written(3);
}

TEST_F(PostedReceives, that_are_too_short_fail_and_are_not_written) {
  constexpr int room = 4000;
  const Buffer buffer(MemoryKind::device, 5000, rank() == 0 ? 1 : 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 1) MPI_Irecv(buffer.data(), room, MPI_BYTE, 0, tag, communicator_, &request);
  meet();
  if (rank() == 0) {
    wait(send(buffer));
  } else if (rank() == 1) {
    EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    EXPECT_TRUE(std::ranges::equal(buffer.read() | std::views::drop(room),
                                   payload(5000, 2) | std::views::drop(room)));
  }
  expect_written(0);
  exchange(large);
  expect_written(1);
}

TEST_F(PostedReceives, with_more_room_than_needed_tell_what_has_come) {
  const Buffer buffer(MemoryKind::device, rank() == 0 ? 3000 : 4000, rank() == 0 ? 1 : 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 1) request = receive(buffer);
  meet();
  if (rank() == 0) {
    wait(send(buffer));
  } else if (rank() == 1) {
    MPI_Status status;
    int bytes = 0;
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    EXPECT_EQ(bytes, 3000);
    EXPECT_EQ(status.MPI_SOURCE, 0);
    EXPECT_EQ(status.MPI_TAG, tag);
    Bytes expected = payload(4000, 2);
    const Bytes sent = payload(3000, 1);
    std::copy(sent.begin(), sent.end(), expected.begin());
    EXPECT_TRUE(buffer.read() == expected);
  }
  expect_written(1);
}

TEST_F(PostedReceives, that_are_persistent_are_written_at_each_start) {
  Buffer buffer(MemoryKind::device, large);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) MPI_Send_init(buffer.data(), buffer.count(), MPI_BYTE, 1, tag, communicator_, &request);
  if (rank() == 1) MPI_Recv_init(buffer.data(), buffer.count(), MPI_BYTE, 0, tag, communicator_, &request);
  for (std::uint64_t round = 0; round < 4; ++round) {
    buffer.write(payload(large, rank() == 0 ? round : 99));
    if (rank() == 1) MPI_Start(&request);
    meet();
    if (rank() == 0) MPI_Start(&request);
    if (rank() < 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank() == 1) {
      EXPECT_TRUE(buffer.read() == payload(large, round)) << "round " << round;
    }
    expect_written(1);
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

TEST_F(PostedReceives, of_messages_to_oneself_are_not_shown) {
  const Buffer from(MemoryKind::device, large, 1);
  const Buffer to(MemoryKind::device, large, 2);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(to.data(), to.count(), MPI_BYTE, rank(), tag, communicator_, &request);
  MPI_Send(from.data(), from.count(), MPI_BYTE, rank(), tag, communicator_);
  wait(request);
  EXPECT_TRUE(to.read() == payload(large, 1));
  EXPECT_EQ(counts().shown, before_.shown);
}

TEST_F(PostedReceives, between_persistent_messages_in_host_memory_are_counted_with_them) {
  int number = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) MPI_Send_init(&number, 1, MPI_INT, 1, tag, communicator_, &request);
  if (rank() == 1) MPI_Recv_init(&number, 1, MPI_INT, 0, tag, communicator_, &request);
  for (int round = 0; round < 3; ++round) {
    if (rank() == 0) number = round;
    if (rank() < 2) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    EXPECT_TRUE(rank() > 1 || number == round);
    exchange(5000);
    expect_written(1);
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

TEST_F(PostedReceives, in_pieces_get_their_messages_the_usual_way) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(1000, 100, 150, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  for (const bool sender_is_in_pieces : {true, false}) {
    const Buffer buffer(MemoryKind::device, 150000, rank() == 0 ? 1 : 2);
    const bool in_pieces = (rank() == 0) == sender_is_in_pieces;
    const int count = in_pieces ? 1 : 100000;
    MPI_Datatype of = in_pieces ? type : MPI_BYTE;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 1) MPI_Irecv(buffer.data(), count, of, 0, tag, communicator_, &request);
    meet();
    if (rank() == 0) MPI_Isend(buffer.data(), count, of, 1, tag, communicator_, &request);
    wait(request);
    if (rank() == 1) {
      const Bytes sent = payload(150000, 1);
      const Bytes come = buffer.read();
      for (std::size_t i = 0; i < 100000; ++i) {
        const std::size_t apart = i / 100 * 150 + i % 100;
        ASSERT_EQ(come[sender_is_in_pieces ? i : apart], sent[sender_is_in_pieces ? apart : i]) << i;
      }
    }
  }
  MPI_Type_free(&type);
  expect_written(0);
  exchange(large);
  expect_written(1);
}

TEST_F(PostedReceives, more_than_there_is_room_for_are_all_right) {
  constexpr std::size_t messages = 600;
  std::vector<Buffer> buffers;
  std::vector<MPI_Request> requests;
  for (std::uint64_t i = 0; i < messages && rank() < 2; ++i)
    buffers.emplace_back(MemoryKind::device, 200, rank() == 0 ? i : 9999);
  if (rank() == 1) {
    for (const Buffer& buffer : buffers) requests.push_back(receive(buffer));
  }
  meet();
  if (rank() == 0) {
    for (const Buffer& buffer : buffers) requests.push_back(send(buffer));
  }
  for (MPI_Request& request : requests) wait(request);
  for (std::uint64_t i = 0; i < messages && rank() == 1; ++i) {
    EXPECT_TRUE(buffers[i].read() == payload(200, i)) << "message " << i;
  }
  const Counts now = counts();
  if (rank() == 1) {
    EXPECT_GE(now.received - before_.received, 100);
    EXPECT_LE(now.received - before_.received, 256);
  }
  before_ = now;
  exchange(large);
  expect_written(1);
}

TEST_F(PostedReceives, with_more_tags_than_are_counted_are_all_right) {
  const Buffer buffer(MemoryKind::device, 100, 1);
  for (int i = 0; i < 5000 && rank() < 2; ++i) {
    if (rank() == 0) MPI_Send(nullptr, 0, MPI_BYTE, 1, 100 + i, communicator_);
    if (rank() == 1) MPI_Recv(nullptr, 0, MPI_BYTE, 0, 100 + i, communicator_, MPI_STATUS_IGNORE);
  }
  expect_written(0);
  exchange(large);
  expect_written(0);
}

TEST_F(PostedReceives, whose_buffer_is_in_use_are_not_written_before_it_is_free) {
  SharedWord word;
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 1 : 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 1) {
    const test_support::BusyGpu busy;
    request = receive(buffer);
    word.set(1);
    word.await(2);
  } else if (rank() == 0) {
    word.await(1);
    request = send(buffer);
    word.set(2);
  }
  wait(request);
  if (rank() == 1) {
    EXPECT_TRUE(buffer.read() == payload(large, 1));
  }
  expect_written(0);
}

TEST_F(PostedReceives, whose_buffer_is_free_later_are_written) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 1 : 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 1) {
    test_support::BusyGpu busy;
    request = receive(buffer);
    busy.end();
    cudaDeviceSynchronize();  // and so for what the GPU tells the sender
  }
  meet();
  if (rank() == 0) request = send(buffer);
  wait(request);
  if (rank() == 1) {
    EXPECT_TRUE(buffer.read() == payload(large, 1));
  }
  expect_written(1);
}

TEST_F(PostedReceives, are_written_behind_what_the_sender_had_queued) {
  for (const std::size_t bytes : {std::size_t{4096}, large}) {
    const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
    // the first message has the receiver's memory mapped, which is not done while the GPU works
    for (const int value : {6, 7}) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (rank() == 1) request = receive(buffer);
      meet();
      if (rank() == 0) {
        std::unique_ptr<test_support::BusyGpu> busy;
        if (value == 7) busy = std::make_unique<test_support::BusyGpu>();
        cudaMemsetAsync(buffer.data(), value, bytes, nullptr);
        if (value == 6) cudaDeviceSynchronize();
        request = send(buffer);
      }
      wait(request);
      if (rank() == 1) {
        EXPECT_TRUE(buffer.read() == Bytes(bytes, static_cast<std::byte>(value)));
      }
      expect_written(1);
    }
  }
}

TEST_F(PostedReceives, that_would_have_to_be_mapped_while_the_GPU_works_are_not_written) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 1 : 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 1) request = receive(buffer);
  meet();
  if (rank() == 0) {
    const test_support::BusyGpu busy;
    request = send(buffer);
  }
  wait(request);
  if (rank() == 1) {
    EXPECT_TRUE(buffer.read() == payload(large, 1));
  }
  expect_written(0);
}

TEST_F(PostedReceives, complete_while_their_senders_make_no_call) {
  SharedWord word;
  int turn = 0;
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, std::size_t{65536}, large}) {
    const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 1) request = receive(buffer);
    meet();
    if (rank() == 0) {
      request = send(buffer);
      word.set(++turn);
      word.await(++turn);
    } else if (rank() == 1) {
      word.await(++turn);
      while (buffer.read() != payload(bytes, 1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      wait(std::exchange(request, MPI_REQUEST_NULL));
      word.set(++turn);
    }
    wait(request);
    expect_written(1);
  }
}

/// An error handler sends a message inside the call that it is called by: nobody counts it, and the next one
/// must not go where that has gone.
/// Two threads a rank on one communicator, tag by tag; messages of one tag are sent and received by any of
/// them, so each must be one of those that were sent, whole.
/// for right ones.

}  // namespace
}  // namespace penstock::programs
