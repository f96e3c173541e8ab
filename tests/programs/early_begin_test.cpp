// Large payloads get under way in calls that wait for nothing, so that they move while the application
// computes.
#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t large = 1u << 20;

/// Polls the buffer, and makes no MPI call.
bool arrives(const Buffer& buffer, const std::vector<std::byte>& content) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (buffer.read() != content) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// What rank 0 has begun to send, counted in memory that rank 1 sees: it need make no MPI call to know.
class SendsBegun {
 public:
  SendsBegun() {
    int* own = nullptr;
    const MPI_Aint bytes = rank() == 0 ? sizeof(int) : 0;
    MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window_);
    MPI_Aint shared_bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &shared_bytes, &unit, &count_);
    if (rank() == 0) *count_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SendsBegun() { MPI_Win_free(&window_); }
  SendsBegun(const SendsBegun&) = delete;
  SendsBegun& operator=(const SendsBegun&) = delete;

  /// By rank 0, when MPI_Isend or MPI_Start has returned: the envelopes lie with rank 1, and the payloads are
  /// known to be ready. A rank learns in its MPI calls what its GPU has reached.
  void add(int sends = 1) {
    cudaDeviceSynchronize();
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 98, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    std::atomic_ref(*count_).fetch_add(sends, std::memory_order_release);
  }
  /// By rank 1.
  void await(int count) const {
    while (std::atomic_ref(*count_).load(std::memory_order_acquire) < count) std::this_thread::sleep_for(1ms);
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  int* count_ = nullptr;
};

struct Halos;

/// The window ends with the test: freeing it waits for all sends.
class EarlyBegin : public testing::Test {
 protected:
  template <typename NextCall>
  void receive_without_waiting(NextCall next_call);
  template <typename Look>
  void receive_what_was_probed(const Buffer& outgoing, const Buffer& incoming, Look look);
  template <typename Post, typename Complete>
  void exchange(Halos& halos, Post post, Complete complete);

  SendsBegun sends_;
};

/// Rank 0 sends to a receive that rank 1 has posted; `next_call` is what rank 1 does when the envelope has
/// come.
template <typename NextCall>
void EarlyBegin::receive_without_waiting(NextCall next_call) {
  const Buffer buffer(MemoryKind::device, large, static_cast<std::uint64_t>(rank()));
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 1) MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) {
    MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    sends_.add();
  } else if (rank() == 1) {
    sends_.await(1);
    next_call();
    EXPECT_TRUE(arrives(buffer, payload(large, 0)));
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank() == 1) {
    EXPECT_EQ(buffer.read(), payload(large, 0));
  }
}

TEST_F(EarlyBegin, in_the_next_receive) {
  const Buffer other(MemoryKind::device, 100, 5);
  MPI_Request request = MPI_REQUEST_NULL;
  receive_without_waiting(
      [&] { MPI_Irecv(other.data(), other.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request); });
  if (rank() == 0) MPI_Send(other.data(), other.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST_F(EarlyBegin, in_the_next_send) {
  const Buffer other(MemoryKind::device, large, 5);
  MPI_Request request = MPI_REQUEST_NULL;
  receive_without_waiting(
      [&] { MPI_Isend(other.data(), other.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request); });
  if (rank() == 0) MPI_Recv(other.data(), other.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST_F(EarlyBegin, of_a_persistent_receive_in_the_next_start) {
  Buffer first(MemoryKind::device, large, static_cast<std::uint64_t>(rank()));
  const Buffer second(MemoryKind::device, 100, 9);
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank() == 1) {
    MPI_Recv_init(first.data(), first.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(second.data(), second.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[1]);
  } else if (rank() == 0) {
    MPI_Send_init(first.data(), first.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(second.data(), second.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[1]);
  }
  for (int round = 0; round < 3 && rank() < 2; ++round) {
    if (rank() == 1) first.write(Bytes(large));
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, 1 - rank(), 7, nullptr, 0, MPI_BYTE, 1 - rank(), 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Start(&requests[0]);
    if (rank() == 0) sends_.add();
    if (rank() == 1) sends_.await(round + 1);
    MPI_Start(&requests[1]);
    if (rank() == 1) {
      EXPECT_TRUE(arrives(first, payload(large, 0))) << "round " << round;
    }
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  for (MPI_Request& request : requests) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

TEST_F(EarlyBegin, also_behind_receives_that_are_small_or_cancelled) {
  const Buffer small(MemoryKind::device, 100, 6);
  const Buffer cancelled(MemoryKind::device, large, 7);
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank() == 1) {
    MPI_Irecv(small.data(), small.count(), MPI_BYTE, 0, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(cancelled.data(), cancelled.count(), MPI_BYTE, 0, 99, MPI_COMM_WORLD, &requests[1]);
    MPI_Cancel(&requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  const Buffer other(MemoryKind::device, 100, 8);
  MPI_Request request = MPI_REQUEST_NULL;
  receive_without_waiting(
      [&] { MPI_Irecv(other.data(), other.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request); });
  if (rank() == 0) {
    MPI_Send(small.data(), small.count(), MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    MPI_Send(other.data(), other.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

/// Rank 0 sends what rank 1 takes by a probe and MPI_Imrecv; `look` is what rank 1 does when that has
/// returned.
template <typename Look>
void EarlyBegin::receive_what_was_probed(const Buffer& outgoing, const Buffer& incoming, Look look) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) {
    MPI_Isend(outgoing.data(), outgoing.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    sends_.add();
  } else if (rank() == 1) {
    sends_.await(1);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(incoming.data(), incoming.count(), MPI_BYTE, &message, &request);
    look();
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank() == 1) {
    EXPECT_EQ(incoming.read(static_cast<std::size_t>(outgoing.count())), outgoing.read());
  }
}

TEST_F(EarlyBegin, of_what_a_probe_has_matched) {
  const Buffer outgoing(MemoryKind::device, large, 7);
  const Buffer incoming(MemoryKind::device, large, 3);
  receive_what_was_probed(outgoing, incoming, [&] { EXPECT_TRUE(arrives(incoming, payload(large, 7))); });
}

/// They would keep the call until they are over, as their senders must not wait for the next one.
TEST_F(EarlyBegin, not_of_small_ones_though_their_receive_has_room_for_more) {
  constexpr std::size_t small = 20'000;
  const Buffer outgoing(MemoryKind::device, small, 7);
  const Buffer incoming(MemoryKind::device, large, 3);
  receive_what_was_probed(outgoing, incoming, [&] { EXPECT_NE(incoming.read(small), payload(small, 7)); });
}

constexpr int neighbours = 4;

/// What both ranks exchange in steps, as simulations do.
struct Halos {
  Halos() {
    for (int i = 0; i < neighbours; ++i) {
      outgoing.emplace_back(MemoryKind::device, large);
      incoming.emplace_back(MemoryKind::device, large);
    }
  }
  [[nodiscard]] static Bytes content(int step, int sender, int message) {
    return payload(large, static_cast<std::uint64_t>(1000 * step + 100 * sender + message));
  }

  std::vector<Buffer> outgoing;
  std::vector<Buffer> incoming;
  /// Receives, then sends.
  std::vector<MPI_Request> requests = std::vector<MPI_Request>(2 * neighbours, MPI_REQUEST_NULL);
};

/// Receives, sends, computation. From the second step on, what has come when the sends are posted is under
/// way by the last of them. `post(i)` and `complete()` are for `halos.requests`.
template <typename Post, typename Complete>
void EarlyBegin::exchange(Halos& halos, Post post, Complete complete) {
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < neighbours; ++i) {
      halos.outgoing[i].write(Halos::content(step, rank(), i));
      halos.incoming[i].write(Bytes(large));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 1) sends_.await((step + 1) * neighbours);
    for (int i = 0; i < 2 * neighbours; ++i) post(i);
    if (rank() == 0) sends_.add(neighbours);
    std::this_thread::sleep_for(1ms);
    if (rank() == 1 && step > 0) {
      for (int i = 0; i < neighbours; ++i)
        EXPECT_TRUE(arrives(halos.incoming[i], Halos::content(step, 0, i))) << "step " << step;
    }
    complete();
    for (int i = 0; i < neighbours; ++i)
      EXPECT_EQ(halos.incoming[i].read(), Halos::content(step, 1 - rank(), i)) << "step " << step;
  }
}

TEST_F(EarlyBegin, of_all_receives_by_the_last_send_of_a_step) {
  Halos halos;
  const auto post = [&](int i) {
    const int tag = i % neighbours;
    if (i < neighbours) {
      MPI_Irecv(halos.incoming[tag].data(), large, MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD,
                &halos.requests[i]);
    } else {
      MPI_Isend(halos.outgoing[tag].data(), large, MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD,
                &halos.requests[i]);
    }
  };
  exchange(halos, post, [&] { MPI_Waitall(2 * neighbours, halos.requests.data(), MPI_STATUSES_IGNORE); });
}

/// Completed by a call that waits for nothing either.
TEST_F(EarlyBegin, of_all_persistent_receives_by_the_last_start_of_a_step) {
  Halos halos;
  for (int i = 0; i < neighbours; ++i) {
    MPI_Recv_init(halos.incoming[i].data(), large, MPI_BYTE, 1 - rank(), i, MPI_COMM_WORLD,
                  &halos.requests[i]);
    MPI_Send_init(halos.outgoing[i].data(), large, MPI_BYTE, 1 - rank(), i, MPI_COMM_WORLD,
                  &halos.requests[neighbours + i]);
  }
  exchange(
      halos, [&](int i) { MPI_Start(&halos.requests[i]); },
      [&] {
        for (int are_over = 0; are_over == 0;)
          MPI_Testall(2 * neighbours, halos.requests.data(), &are_over, MPI_STATUSES_IGNORE);
      });
  for (MPI_Request& request : halos.requests) MPI_Request_free(&request);
}

/// More receives than one step of progress looks at.
TEST_F(EarlyBegin, a_rank_that_polls_for_one_message_receives_all_that_others_wait_for) {
  if (rank() > 1) return;
  constexpr int messages = 300;
  constexpr std::size_t bytes = 1000;
  const Buffer memory(MemoryKind::device, messages * bytes, rank() == 0 ? 7 : 8);
  std::vector<MPI_Request> requests(messages);
  int is_done = 0;
  for (int i = 0; i < messages; ++i) {
    std::byte* const place = memory.data() + static_cast<std::size_t>(i) * bytes;
    const auto at = static_cast<std::size_t>(i);
    if (rank() == 0) {
      // synchronous, so that none is complete before rank 1 has fetched it
      MPI_Issend(place, bytes, MPI_BYTE, 1, 10 + i, MPI_COMM_WORLD, &requests[at]);
    } else {
      MPI_Irecv(place, bytes, MPI_BYTE, 0, 10 + i, MPI_COMM_WORLD, &requests[at]);
    }
  }
  if (rank() == 0) {
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Send(&is_done, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    return;
  }
  MPI_Request done = MPI_REQUEST_NULL;
  MPI_Irecv(&is_done, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &done);
  for (int flag = 0; flag == 0;) MPI_Test(&done, &flag, MPI_STATUS_IGNORE);
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  EXPECT_TRUE(memory.read() == payload(messages * bytes, 7));
}

}  // namespace
}  // namespace penstock::programs
