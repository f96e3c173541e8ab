// Several threads of each rank send and receive device buffers at once (MPI_THREAD_MULTIPLE).
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/programs/test_messages.hpp"
#include "tests/support/busy_gpu.hpp"

namespace penstock::programs {
namespace {

using test_support::BusyGpu;

constexpr int thread_count = 4;

bool is_thread_multiple() {
  int provided = 0;
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

/// Runs `body(thread)` on several threads and waits for them. GoogleTest's EXPECT is safe to use in them.
template <typename Body>
void on_threads(Body body) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) threads.emplace_back(body, thread);
  for (std::thread& thread : threads) thread.join();
}

std::uint64_t seed_of(int from, int thread, int round) {
  return static_cast<std::uint64_t>(from * 1'000'000 + thread * 1000 + round);
}
std::size_t bytes_of(int thread, int round) {
  constexpr std::size_t sizes[] = {1, 64, 65, 3000, 65536, 65537, 200000};
  return sizes[static_cast<std::size_t>(thread * 3 + round) % std::size(sizes)];
}

TEST(Threads, exchange_device_messages_each_with_a_tag_of_its_own) {
  if (!is_thread_multiple() || rank() > 1) return;
  on_threads([](int thread) {
    for (int round = 0; round < 30; ++round) {
      const std::size_t bytes = bytes_of(thread, round);
      const Buffer sent(MemoryKind::device, bytes, seed_of(rank(), thread, round));
      const Buffer received(MemoryKind::device, bytes);
      MPI_Request requests[2];
      MPI_Irecv(received.data(), received.count(), MPI_BYTE, 1 - rank(), thread, MPI_COMM_WORLD,
                &requests[0]);
      MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), thread, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      EXPECT_EQ(received.read(), payload(bytes, seed_of(1 - rank(), thread, round)))
          << "thread " << thread << ", round " << round;
    }
  });
}

TEST(Threads, start_persistent_requests_again_and_again) {
  if (!is_thread_multiple() || rank() > 1) return;
  on_threads([](int thread) {
    for (const std::size_t bytes : {std::size_t{3000}, std::size_t{200000}}) {
      Buffer sent(MemoryKind::device, bytes);
      const Buffer received(MemoryKind::device, bytes);
      MPI_Request requests[2];
      MPI_Recv_init(received.data(), received.count(), MPI_BYTE, 1 - rank(), thread, MPI_COMM_WORLD,
                    &requests[0]);
      MPI_Send_init(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), thread, MPI_COMM_WORLD, &requests[1]);
      for (int round = 0; round < 50; ++round) {
        sent.write(payload(bytes, seed_of(rank(), thread, round)));
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT_EQ(received.read(), payload(bytes, seed_of(1 - rank(), thread, round)))
            << "thread " << thread << ", round " << round;
      }
      for (MPI_Request& request : requests) MPI_Request_free(&request);
    }
  });
}

TEST(Threads, receive_by_matched_probe_whatever_comes_each_message_once) {
  if (!is_thread_multiple() || rank() > 1) return;
  constexpr int messages = thread_count * 20;
  std::atomic<int> received{0};
  std::vector<std::atomic<int>> seen(messages);
  on_threads([&](int thread) {
    if (rank() == 0) {
      for (int i = thread; i < messages; i += thread_count) {
        const Buffer buffer(MemoryKind::device, bytes_of(thread, i), seed_of(0, 0, i));
        MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, i, MPI_COMM_WORLD);
      }
      return;
    }
    while (received < messages) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status{};
      int flag = 0;
      MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
      if (flag == 0) {
        ::sched_yield();
        continue;
      }
      ++received;
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      const int i = status.MPI_TAG;
      EXPECT_EQ(static_cast<std::size_t>(bytes), bytes_of(i % thread_count, i));
      const Buffer buffer(MemoryKind::device, static_cast<std::size_t>(bytes));
      MPI_Mrecv(buffer.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffer.read(), payload(static_cast<std::size_t>(bytes), seed_of(0, 0, i))) << "message " << i;
      ++seen[static_cast<std::size_t>(i)];
    }
  });
  if (rank() == 1) {
    for (int i = 0; i < messages; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], 1) << "message " << i;
  }
}

TEST(Threads, a_request_started_by_one_thread_may_be_completed_by_another) {
  if (!is_thread_multiple() || rank() > 1) return;
  for (int round = 0; round < 10; ++round) {
    const std::size_t bytes = bytes_of(1, round);
    const Buffer sent(MemoryKind::device, bytes, seed_of(rank(), 1, round));
    const Buffer received(MemoryKind::device, bytes);
    MPI_Request requests[2];
    std::thread starter([&] {
      MPI_Irecv(received.data(), received.count(), MPI_BYTE, 1 - rank(), 5, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), 5, MPI_COMM_WORLD, &requests[1]);
    });
    starter.join();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(received.read(), payload(bytes, seed_of(1 - rank(), 1, round))) << "round " << round;
  }
}

/// A host message, so that what other threads of the rank have pending is looked at.
void send_to_oneself() {
  const int sent = 7;
  int received = 0;
  MPI_Request own = MPI_REQUEST_NULL;
  MPI_Irecv(&received, 1, MPI_INT, rank(), 8, MPI_COMM_WORLD, &own);
  MPI_Send(&sent, 1, MPI_INT, rank(), 8, MPI_COMM_WORLD);
  MPI_Wait(&own, MPI_STATUS_IGNORE);
  EXPECT_EQ(received, sent);
}

/// One thread completes what `post` has begun, for which it needs the GPU, which is busy until this thread
/// has been through MPI.
template <typename Post>
void expect_others_to_go_on(Post post) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::thread waiter;
  {
    const BusyGpu busy;
    post(request);
    waiter = std::thread([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    std::this_thread::sleep_for(
        std::chrono::milliseconds(30));  // the other has found that its payload is there
    send_to_oneself();
  }
  waiter.join();
}

TEST(Threads, one_that_waits_for_its_gpu_to_take_a_payload_keeps_no_other_from_MPI) {
  if (!is_thread_multiple()) return;
  const Buffer received(MemoryKind::device, 32, 1);  // too small for an envelope
  const Bytes sent = payload(32, 2);
  expect_others_to_go_on([&](MPI_Request& request) {
    MPI_Irecv(received.data(), 32, MPI_BYTE, rank(), 9, MPI_COMM_WORLD, &request);
    MPI_Send(sent.data(), 32, MPI_BYTE, rank(), 9, MPI_COMM_WORLD);
  });
  EXPECT_EQ(received.read(), sent);
}

TEST(Threads, one_that_waits_for_its_gpu_to_take_a_result_keeps_no_other_from_MPI) {
  if (!is_thread_multiple()) return;
  const Buffer received(MemoryKind::device, 5000, 1);
  const Bytes sent = payload(5000, 2);
  expect_others_to_go_on([&](MPI_Request& request) {
    MPI_Iallreduce(sent.data(), received.data(), 5000, MPI_BYTE, MPI_BOR, MPI_COMM_SELF, &request);
  });
  EXPECT_EQ(received.read(), sent);
}

TEST(Threads, one_that_starts_a_send_which_waits_for_its_gpu_keeps_no_other_from_MPI) {
  if (!is_thread_multiple()) return;
  const Buffer sent(MemoryKind::device, 32,
                    3);  // too small for an envelope, so it is copied to the host first
  Bytes received(32);
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Send_init(sent.data(), 32, MPI_BYTE, rank(), 9, MPI_COMM_WORLD, &send);
  MPI_Irecv(received.data(), 32, MPI_BYTE, rank(), 9, MPI_COMM_WORLD, &receive);
  std::atomic<bool> starts{false};
  std::thread starter;
  {
    const BusyGpu busy;
    starter = std::thread([&] {
      starts = true;
      MPI_Start(&send);
    });
    while (!starts) ::sched_yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // it has come to wait for its GPU
    send_to_oneself();
  }
  starter.join();
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Request_free(&send);
  EXPECT_EQ(received, sent.read());
}

std::atomic<int> errors_heard{0};

/// Calls MPI, and waits for another thread that does.
void hear_error(MPI_Comm* /*communicator*/, int* code, ...) {
  EXPECT_EQ(class_of(*code), MPI_ERR_TRUNCATE);
  std::thread([] { send_to_oneself(); }).join();
  ++errors_heard;
}

TEST(Threads, an_error_handler_that_waits_for_another_thread_in_MPI_may_be_called_for_a_freed_request) {
  if (!is_thread_multiple()) return;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &communicator);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(hear_error, &handler);
  MPI_Comm_set_errhandler(communicator, handler);
  errors_heard = 0;
  const Buffer sent(MemoryKind::device, 3000, 1);
  const Buffer too_small(MemoryKind::device, 1000);
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Irecv(too_small.data(), too_small.count(), MPI_BYTE, 0, 9, communicator, &receive);
  MPI_Request_free(&receive);
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 0, 9, communicator, &send);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  int flag = 0;
  while (errors_heard == 0) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  EXPECT_EQ(errors_heard, 1);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&communicator);
}

std::atomic<int> attributes_dropped{0};

/// Waits for another thread that calls MPI. (Not with a communicator: Open MPI keeps all from attributes
/// meanwhile, and Penstock knows communicators by these.)
int drop_attribute(MPI_Datatype /*datatype*/, int /*keyval*/, void* pending, void* /*state*/) {
  std::thread([pending] {
    int flag = 0;
    MPI_Test(static_cast<MPI_Request*>(pending), &flag, MPI_STATUS_IGNORE);
    EXPECT_EQ(flag, 0);
  }).join();
  ++attributes_dropped;
  return MPI_SUCCESS;
}

TEST(Threads,
     a_datatype_freed_before_a_collective_begins_may_have_an_attribute_that_waits_for_another_thread) {
  if (!is_thread_multiple()) return;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, drop_attribute, &keyval, nullptr);
  const Buffer received(MemoryKind::device, 3000);
  MPI_Request pending = MPI_REQUEST_NULL;
  MPI_Irecv(received.data(), received.count(), MPI_BYTE, rank(), 8, MPI_COMM_WORLD, &pending);
  const Buffer buffer(MemoryKind::device, 65536, rank() == 0 ? 1 : 2);
  MPI_Datatype freed = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(100, MPI_BYTE, &freed);
  MPI_Type_set_attr(freed, keyval, &pending);
  attributes_dropped = 0;
  // the ranks agree on it only after the first one has freed what it might need
  if (rank() != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request broadcast = MPI_REQUEST_NULL;
  MPI_Ibcast(buffer.data(), buffer.count(), MPI_BYTE, 0, communicator, &broadcast);
  MPI_Type_free(&freed);
  if (rank() == 0) MPI_Send(nullptr, 0, MPI_INT, 1, 9, MPI_COMM_WORLD);
  MPI_Wait(&broadcast, MPI_STATUS_IGNORE);
  EXPECT_EQ(buffer.read(), payload(65536, 1));
  EXPECT_EQ(attributes_dropped, 1);
  MPI_Send(nullptr, 0, MPI_BYTE, rank(), 8, MPI_COMM_WORLD);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  MPI_Type_free_keyval(&keyval);
  MPI_Comm_free(&communicator);
}

/// As between two barriers of OpenMP: the second thread waits for the first, which is in a call already when
/// the second posts. The receiver takes the second's message first, which goes on only by steps of its
/// sender, as memory of a pool is staged, and does not fit into a staging buffer.
TEST(Threads, one_that_waits_in_MPI_makes_progress_for_what_another_posts_later) {
  if (!is_thread_multiple() || rank() > 1) return;
  const Buffer large(MemoryKind::pageable, 3 << 20, rank() == 0 ? 1 : 3);
  const Buffer staged(MemoryKind::async_pool, 40 << 20, rank() == 0 ? 2 : 4);
  if (rank() == 0) {
    std::atomic<bool> is_sent{false};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(staged.data(), staged.count(), MPI_BYTE, 1, 51, MPI_COMM_WORLD, &request);
      while (!is_sent) sched_yield();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    MPI_Send(large.data(), large.count(), MPI_BYTE, 1, 50, MPI_COMM_WORLD);
    is_sent = true;
    other.join();
  } else {
    MPI_Recv(staged.data(), staged.count(), MPI_BYTE, 0, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(large.data(), large.count(), MPI_BYTE, 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(staged.read(), payload(40 << 20, 2));
    EXPECT_EQ(large.read(), payload(3 << 20, 1));
  }
}

TEST(Threads, blocking_sends_and_receives_on_a_communicator_each) {
  if (!is_thread_multiple()) return;
  std::vector<MPI_Comm> communicators(thread_count);
  for (MPI_Comm& communicator : communicators) MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  if (rank() <= 1) {
    on_threads([&](int thread) {
      const MPI_Comm mine = communicators[static_cast<std::size_t>(thread)];
      for (int round = 0; round < 20; ++round) {
        const std::size_t bytes = bytes_of(thread, round);
        const bool sends = (round + thread) % 2 == rank();
        const Buffer buffer(MemoryKind::device, bytes, sends ? seed_of(7, thread, round) : 0);
        if (sends) {
          MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1 - rank(), 0, mine);
        } else {
          MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 1 - rank(), 0, mine, MPI_STATUS_IGNORE);
          EXPECT_EQ(buffer.read(), payload(bytes, seed_of(7, thread, round)))
              << "thread " << thread << ", round " << round;
        }
      }
    });
  }
  for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
}

}  // namespace
}  // namespace penstock::programs
