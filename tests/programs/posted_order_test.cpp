// Posted receives among everything that may come between a receive and its message: wildcards, probes,
// cancelled and uncounted messages, threads, other communicators. Each test would get wrong bytes if the
// count were wrong.
#include <cuda_runtime.h>

#include <array>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/programs/posted_receives.hpp"

namespace penstock::programs {
namespace {

TEST_F(PostedReceives, are_told_apart_by_their_order_and_their_tags) {
  constexpr int messages = 12;
  std::vector<Buffer> buffers;
  std::vector<MPI_Request> requests;
  // the tags come in another order, those of one tag in the same
  const auto tag_of = [](int message) { return message % 3; };
  for (int i = 0; i < messages; ++i) {
    buffers.emplace_back(MemoryKind::device, 1000 + static_cast<std::size_t>(i),
                         rank() == 0 ? static_cast<std::uint64_t>(i) : 100);
  }
  if (rank() == 1) {
    for (int i = 0; i < messages; ++i)
      requests.push_back(receive(buffers[static_cast<std::size_t>(i)], 0, tag_of(i)));
  }
  meet();
  if (rank() == 0) {
    for (const int each : {2, 0, 1}) {
      for (int i = 0; i < messages; ++i) {
        if (tag_of(i) == each) requests.push_back(send(buffers[static_cast<std::size_t>(i)], each));
      }
    }
  }
  for (MPI_Request& request : requests) wait(request);
  for (int i = 0; i < messages && rank() == 1; ++i) {
    EXPECT_TRUE(buffers[static_cast<std::size_t>(i)].read() ==
                payload(1000 + static_cast<std::size_t>(i), static_cast<std::uint64_t>(i)))
        << "message " << i;
  }
  expect_written(messages);
}

TEST_F(PostedReceives, are_counted_with_messages_of_all_other_kinds) {
  int number = 5;
  for (int round = 0; round < 3; ++round) {
    if (rank() == 0) {
      MPI_Send(&number, 1, MPI_INT, 1, tag, communicator_);  // blocking, host
      MPI_Send(nullptr, 0, MPI_INT, 1, tag, communicator_);  // empty
      wait(send(Buffer(MemoryKind::pageable, 100000, 3)));
      wait(send(Buffer(MemoryKind::device, 10, 3)));
    } else if (rank() == 1) {
      const Buffer first(MemoryKind::pageable, 4);
      MPI_Recv(&number, 1, MPI_INT, 0, tag, communicator_, MPI_STATUS_IGNORE);
      wait(receive(Buffer(MemoryKind::device, 500, 3)));
      const Buffer third(MemoryKind::pageable, 100000);
      const Buffer fourth(MemoryKind::device, 10);
      const std::array requests = {receive(third), receive(fourth)};
      for (const MPI_Request& request : requests) wait(request);
      EXPECT_TRUE(third.read() == payload(100000, 3));
      EXPECT_TRUE(fourth.read() == payload(10, 3));
    }
    exchange(70000);
    expect_written(1);
  }
}

TEST_F(PostedReceives, before_a_wildcard_are_written_and_none_after_it) {
  for (const bool any_source : {true, false}) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    std::swap(own, communicator_);
    const Buffer first(MemoryKind::device, large, rank() == 0 ? 1 : 9);
    const Buffer second(MemoryKind::device, large, rank() == 0 ? 2 : 9);
    const Buffer third(MemoryKind::device, large, rank() == 0 ? 3 : 9);
    std::vector<MPI_Request> requests;
    if (rank() == 1) {
      requests.push_back(receive(first));
      requests.push_back(any_source ? receive(second, MPI_ANY_SOURCE) : receive(second, 0, MPI_ANY_TAG));
      requests.push_back(receive(third));
    }
    meet();
    if (rank() == 0) {
      for (const Buffer* each : {&first, &second, &third}) requests.push_back(send(*each));
    }
    for (MPI_Request& request : requests) wait(request);
    if (rank() == 1) {
      EXPECT_TRUE(first.read() == payload(large, 1));
      EXPECT_TRUE(second.read() == payload(large, 2));
      EXPECT_TRUE(third.read() == payload(large, 3));
    }
    expect_written(1);
    exchange(large);
    expect_written(0);
    std::swap(own, communicator_);
    MPI_Comm_free(&own);
  }
  exchange(large);  // this communicator has had no wildcard
  expect_written(1);
}

/// Two, as the second would be written with what the first is to get.
TEST_F(PostedReceives, after_a_matched_probe_are_not_written) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 4 : 9);
  const Buffer next(MemoryKind::device, large, rank() == 0 ? 5 : 9);
  const Buffer last(MemoryKind::device, large, rank() == 0 ? 6 : 9);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank() == 0) {
    wait(send(buffer));
  } else if (rank() == 1) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, tag, communicator_, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(buffer.data(), buffer.count(), MPI_BYTE, &message, MPI_STATUS_IGNORE);
    EXPECT_TRUE(buffer.read() == payload(large, 4));
    requests[0] = receive(next);
    requests[1] = receive(last);
  }
  meet();
  if (rank() == 0) {
    requests[0] = send(next);
    requests[1] = send(last);
  }
  for (const MPI_Request& request : requests) wait(request);
  if (rank() == 1) {
    EXPECT_TRUE(next.read() == payload(large, 5));
    EXPECT_TRUE(last.read() == payload(large, 6));
  }
  expect_written(0);
}

TEST_F(PostedReceives, after_a_probe_are_written_again) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 4 : 9);
  if (rank() == 0) {
    wait(send(buffer));
  } else if (rank() == 1) {
    MPI_Probe(0, tag, communicator_, MPI_STATUS_IGNORE);
    wait(receive(buffer));
    EXPECT_TRUE(buffer.read() == payload(large, 4));
  }
  expect_written(0);
  exchange(large);
  expect_written(1);
}

/// Two receives, the first of which is cancelled before anything is sent: the message goes to the second.
TEST_F(PostedReceives, behind_one_that_is_cancelled_get_its_message) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pageable}) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    std::swap(own, communicator_);
    const Buffer first(rank() == 0 ? MemoryKind::device : kind, large, rank() == 0 ? 1 : 8);
    const Buffer second(MemoryKind::device, large, rank() == 0 ? 2 : 9);
    const Buffer third(MemoryKind::device, large, rank() == 0 ? 2 : 9);
    std::vector<MPI_Request> requests;
    if (rank() == 1) {
      MPI_Request cancelled = receive(first);
      requests.push_back(receive(second));
      requests.push_back(receive(third));
      EXPECT_EQ(MPI_Cancel(&cancelled), MPI_SUCCESS);
      MPI_Status status;
      MPI_Wait(&cancelled, &status);
      int is_cancelled = 0;
      MPI_Test_cancelled(&status, &is_cancelled);
      EXPECT_EQ(is_cancelled, 1);
    }
    meet();
    if (rank() == 0) {
      requests.push_back(send(first));
      requests.push_back(send(second));
    }
    for (MPI_Request& request : requests) wait(request);
    if (rank() == 1) {
      EXPECT_TRUE(first.read() == payload(large, 8));
      EXPECT_TRUE(second.read() == payload(large, 1));
      EXPECT_TRUE(third.read() == payload(large, 2));
    }
    expect_written(0);
    std::swap(own, communicator_);
    MPI_Comm_free(&own);
  }
}

TEST_F(PostedReceives, that_are_being_written_are_not_cancelled) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 1 : 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 1) request = receive(buffer);
  meet();
  if (rank() == 0) request = send(buffer);
  meet();
  if (rank() == 1) {
    EXPECT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
    MPI_Status status;
    MPI_Wait(&request, &status);
    int is_cancelled = 1;
    MPI_Test_cancelled(&status, &is_cancelled);
    EXPECT_EQ(is_cancelled, 0);
    EXPECT_TRUE(buffer.read() == payload(large, 1));
  } else {
    wait(request);
  }
  expect_written(1);
  exchange(large);
  expect_written(0);
}

TEST_F(PostedReceives, of_sends_that_may_be_cancelled_get_the_right_messages) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 1 : 2);
  const Buffer other(MemoryKind::device, large, rank() == 0 ? 3 : 4);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Request later = MPI_REQUEST_NULL;
  if (rank() == 1) {
    request = receive(buffer);
    later = receive(other);
  }
  meet();
  if (rank() == 0) {
    request = send(buffer);
    later = send(other);
    EXPECT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
  }
  MPI_Status status;
  MPI_Wait(&request, &status);
  int is_cancelled = 1;
  MPI_Test_cancelled(&status, &is_cancelled);
  EXPECT_EQ(is_cancelled, 0);
  wait(later);
  if (rank() == 1) {
    EXPECT_TRUE(buffer.read() == payload(large, 1));
    EXPECT_TRUE(other.read() == payload(large, 3));
  }
  expect_written(2);
}

TEST_F(PostedReceives, on_a_communicator_that_is_freed_meanwhile_are_written) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 1 : 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 1) request = receive(buffer);
  meet();
  if (rank() == 0) request = send(buffer);
  MPI_Comm_free(&communicator_);
  // the MPI library may give the same handle to this one
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  exchange(large);
  wait(request);
  if (rank() == 1) {
    EXPECT_TRUE(buffer.read() == payload(large, 1));
  }
  expect_written(2);
}

TEST_F(PostedReceives, whose_requests_are_freed_are_written) {
  const Buffer buffer(MemoryKind::device, large, rank() == 0 ? 1 : 2);
  if (rank() == 1) {
    MPI_Request request = receive(buffer);
    MPI_Request_free(&request);
  }
  meet();
  if (rank() == 0) wait(send(buffer));
  meet();
  if (rank() == 1) {
    for (int flag = 0; buffer.read() != payload(large, 1);)
      MPI_Iprobe(MPI_ANY_SOURCE, tag + 1, communicator_, &flag, MPI_STATUS_IGNORE);
  }
  meet();
  exchange(large);
  if (rank() == 0) expect_written(2);
}

TEST_F(PostedReceives, on_several_communicators_are_told_apart) {
  std::array<MPI_Comm, 3> all{};
  for (MPI_Comm& each : all) MPI_Comm_dup(communicator_, &each);
  std::vector<Buffer> buffers;
  for (std::uint64_t i = 0; i < all.size(); ++i)
    buffers.emplace_back(MemoryKind::device, 50000, rank() == 0 ? i : 99);
  std::array<MPI_Request, 3> requests{};
  if (rank() == 1) {
    for (std::size_t i = 0; i < all.size(); ++i)
      MPI_Irecv(buffers[i].data(), buffers[i].count(), MPI_BYTE, 0, tag, all[i], &requests[i]);
  }
  meet();
  if (rank() == 0) {
    for (std::size_t i = all.size(); i-- > 0;)
      MPI_Isend(buffers[i].data(), buffers[i].count(), MPI_BYTE, 1, tag, all[i], &requests[i]);
  }
  if (rank() < 2) MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < all.size() && rank() == 1; ++i) {
    EXPECT_TRUE(buffers[i].read() == payload(50000, i));
  }
  expect_written(3);
  for (MPI_Comm& each : all) MPI_Comm_free(&each);
}

void send_in_handler(MPI_Comm* communicator, int* /*code*/, ...) {
  MPI_Send(nullptr, 0, MPI_BYTE, 1, tag, *communicator);
}

TEST_F(PostedReceives, count_the_messages_of_callbacks) {
  const Buffer first(MemoryKind::device, large, 8);
  const Buffer second(MemoryKind::device, large, rank() == 0 ? 1 : 9);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank() == 1) {
    requests[0] = receive(first);
    requests[1] = receive(second);
  }
  meet();
  if (rank() == 0) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(send_in_handler, &handler);
    MPI_Comm_set_errhandler(communicator_, handler);
    MPI_Comm_call_errhandler(communicator_, MPI_ERR_OTHER);
    MPI_Errhandler_free(&handler);
    wait(send(second));
  }
  for (const MPI_Request& request : requests) wait(request);
  if (rank() == 1) {
    EXPECT_TRUE(first.read() == payload(large, 8));
    EXPECT_TRUE(second.read() == payload(large, 1));
  }
  exchange(large);
  expect_written(2);
}

TEST_F(PostedReceives, of_several_threads_get_whole_messages) {
  if (thread_level_asked_for != MPI_THREAD_MULTIPLE || rank() > 1) return;
  constexpr std::uint64_t rounds = 40;
  constexpr std::size_t bytes = 3000;
  const auto work = [&](std::uint64_t thread) {
    cudaSetDevice(own_device());
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (const bool is_shared : {true, false}) {
        const int with_tag = is_shared ? tag : 10 + static_cast<int>(thread);
        const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 100 * thread + round : 9999);
        wait(rank() == 0 ? send(buffer, with_tag) : receive(buffer, 0, with_tag));
        if (rank() == 0) continue;
        const Bytes come = buffer.read();
        bool is_whole = !is_shared && come == payload(bytes, 100 * thread + round);
        for (std::uint64_t i = 0; is_shared && i < 2 * rounds && !is_whole; ++i)
          is_whole = come == payload(bytes, 100 * (i / rounds) + i % rounds);
        EXPECT_TRUE(is_whole) << "thread " << thread << ", round " << round << ", shared " << is_shared;
      }
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
}

/// In a process of its own, in which no GPU is used before: the calls then block inside the MPI library.
TEST(PostedOrder, of_blocking_calls_holds_up_no_other_thread) {
  if (thread_level_asked_for != MPI_THREAD_MULTIPLE || rank() > 1) return;
  int number = 0;
  if (rank() == 0) {
    MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    return;
  }
  std::thread waiting([] {
    int awaited = 0;
    MPI_Recv(&awaited, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  waiting.join();
}

/// Messages that Penstock cannot see. The one that is misled ends in an error, and no wrong bytes are passed
TEST_F(PostedReceives, misled_by_messages_past_Penstock_are_an_error) {
  const Buffer first(MemoryKind::device, 5000, rank() == 0 ? 1 : 8);
  const Buffer second(MemoryKind::device, 5000, rank() == 0 ? 2 : 9);
  const Bytes hidden = payload(300, 5);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank() == 1) {
    requests[0] = receive(first);
    requests[1] = receive(second);
  }
  meet();
  if (rank() == 0) {
    PMPI_Send(hidden.data(), static_cast<int>(hidden.size()), MPI_BYTE, 1, tag, communicator_);
    MPI_Request request = send(second);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank() == 1) {
    EXPECT_NE(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(first.read(hidden.size()) == hidden);
    EXPECT_TRUE(second.read() == payload(5000, 9));
  }
}

}  // namespace
}  // namespace penstock::programs
