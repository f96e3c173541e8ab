// What the program's own functions ask of MPI that MPI calls inside of a call is the program's, too: device
// buffers move, and what was posted outside is completed.
#include <array>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/programs/test_messages.hpp"
#include "tests/support/callbacks.hpp"

namespace penstock::programs {
namespace {

using test_support::Callback;
using test_support::Caller;

constexpr std::size_t bytes = 300'000;
constexpr int tag = 5;
constexpr bool of_one_alone = true;

/// Has `what` done in each callback, or in those only that one rank can be in alone.
template <typename What>
void in_each_callback(bool can_be_alone, What what) {
  for (int i = 0; i < static_cast<int>(Callback::count_); ++i) {
    const auto callback = static_cast<Callback>(i);
    if (can_be_alone && is_of_all(callback)) continue;
    SCOPED_TRACE(name_of(callback));
    test_support::progress("%s", name_of(callback));
    what([&](const std::function<void()>& body) {
      EXPECT_TRUE(run_in(callback, Caller::world, body)) << "it was not called";
    });
  }
}

std::uint64_t seed_of(int sender) {
  return 40 + static_cast<std::uint64_t>(sender);
}

TEST(Callbacks, exchange_device_buffers) {
  in_each_callback(!of_one_alone, [](const auto& in_callback) {
    const Buffer sent(MemoryKind::device, bytes, seed_of(rank()));
    const Buffer received(MemoryKind::device, bytes);
    const int other = 1 - rank();
    in_callback([&] {
      MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, other, tag, received.data(), received.count(),
                   MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_TRUE(received.read() == payload(bytes, seed_of(other))) << "in the callback";
    });
    EXPECT_TRUE(received.guard_is_intact());
  });
}

TEST(Callbacks, receive_in_host_memory_what_a_device_sent) {
  in_each_callback(of_one_alone, [](const auto& in_callback) {
    const Buffer sent(MemoryKind::device, bytes, seed_of(0));
    const Buffer received(MemoryKind::pageable, bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 0) MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
    in_callback([&] {
      if (rank() != 1) return;
      MPI_Status status;
      MPI_Recv(received.data(), received.count(), MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      EXPECT_EQ(count, received.count());
      EXPECT_TRUE(received.read() == payload(bytes, seed_of(0)));
    });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

TEST(Callbacks, complete_what_was_posted_outside) {
  in_each_callback(of_one_alone, [](const auto& in_callback) {
    const Buffer sent(MemoryKind::device, bytes, seed_of(rank()));
    const Buffer received(MemoryKind::device, bytes);
    const int other = 1 - rank();
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(received.data(), received.count(), MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent.data(), sent.count(), MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests[1]);
    in_callback([&] {
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      EXPECT_TRUE(received.read() == payload(bytes, seed_of(other)));
    });
    EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
    EXPECT_EQ(requests[1], MPI_REQUEST_NULL);
  });
}

/// One rank is in a callback, the other calls the same itself.
TEST(Callbacks, take_part_in_collectives) {
  constexpr std::size_t count = 5'000;
  Memory own(MemoryKind::device, count * sizeof(int), own_device());
  const Memory sum(MemoryKind::device, count * sizeof(int), own_device());
  const std::vector<int> ones(count, 1);
  own.write(0, ones.data(), count * sizeof(int));
  const auto expect_sum = [&] {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(own.data(), sum.data(), static_cast<int>(count), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> found(count);
    sum.read(0, found.data(), count * sizeof(int));
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), 0), 2 * static_cast<int>(count));
  };
  in_each_callback(of_one_alone, [&](const auto& in_callback) {
    in_callback([&] {
      if (rank() == 1) expect_sum();
    });
    if (rank() == 0) expect_sum();
    expect_sum();
  });
}

TEST(Callbacks, are_called_when_a_datatype_is_freed_while_a_collective_waits_for_a_rank) {
  const Buffer buffer(MemoryKind::device, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto broadcast = [&] {
    MPI_Ibcast(buffer.data(), buffer.count(), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  };
  // ranks agree on such calls after a first one, and blocking ones
  broadcast();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) {
    broadcast();
    EXPECT_TRUE(run_in(Callback::deleted_attribute_of_freed_type, Caller::rank, [] {}));
    MPI_Send(nullptr, 0, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    broadcast();
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int errors_heard = 0;
void count_error(MPI_Comm*, int*, ...) {
  ++errors_heard;
}

/// Sends this rank a message for which its receive is too short.
void receive_too_little(const void* sent, int count, void* received, int room) {
  std::array<MPI_Request, 2> requests{};
  MPI_Isend(sent, count, MPI_BYTE, rank(), tag + 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(received, room, MPI_BYTE, rank(), tag + 1, MPI_COMM_WORLD, &requests[1]);
  int index = 0;
  MPI_Waitany(1, &requests[1], &index, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/// A call that progresses what is pending hides the errors of the requests that it tests.
TEST(Callbacks, hear_of_their_own_errors) {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Errhandler counting = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_create_errhandler(count_error, &counting);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
  in_each_callback(of_one_alone, [](const auto& in_callback) {
    const Buffer sent(MemoryKind::device, bytes, seed_of(rank()));
    const Buffer received(MemoryKind::device, bytes);
    const int other = 1 - rank();
    MPI_Request pending = MPI_REQUEST_NULL;
    MPI_Irecv(received.data(), received.count(), MPI_BYTE, other, tag, MPI_COMM_WORLD, &pending);
    errors_heard = 0;
    in_callback([&] {
      const Buffer too_short(MemoryKind::device, bytes / 2);
      receive_too_little(sent.data(), sent.count(), too_short.data(), too_short.count());
    });
    EXPECT_EQ(errors_heard, 1) << "device memory";
    errors_heard = 0;
    in_callback([&] {
      const char byte = 0;
      receive_too_little(&byte, 1, nullptr, 0);
    });
    EXPECT_EQ(errors_heard, 1) << "host memory";
    MPI_Send(sent.data(), sent.count(), MPI_BYTE, other, tag, MPI_COMM_WORLD);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
  });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&counting);
  if (before != MPI_ERRORS_ARE_FATAL) MPI_Errhandler_free(&before);
}

MPI_Comm inner = MPI_COMM_NULL;

/// As libraries cache a communicator of theirs on the program's: persistent requests on it live longer.
TEST(Callbacks, free_a_communicator_that_requests_still_need) {
  const Buffer sent(MemoryKind::device, bytes, seed_of(rank()));
  Buffer received(MemoryKind::device, bytes);
  const int other = 1 - rank();
  for (int round = 0; round < 3; ++round) {
    std::array<MPI_Request, 2> requests{};
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Recv_init(received.data(), received.count(), MPI_BYTE, other, tag, inner, &requests[0]);
    MPI_Send_init(sent.data(), sent.count(), MPI_BYTE, other, tag, inner, &requests[1]);
    EXPECT_TRUE(run_in(Callback::deleted_attribute_of_freed_communicator, Caller::world,
                       [] { MPI_Comm_free(&inner); }));
    EXPECT_EQ(inner, MPI_COMM_NULL);
    received.write(Bytes(bytes));
    MPI_Startall(2, requests.data());
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    EXPECT_TRUE(received.read() == payload(bytes, seed_of(other)));
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
}

}  // namespace
}  // namespace penstock::programs
