// Payloads that travel in chunks, as between nodes. Run with that transport forced, between ranks that see
// each other on different nodes, beside the progress thread, and with a driver that pins no memory.
#include <algorithm>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t kib = 1u << 10;
constexpr std::size_t mib = 1u << 20;

int other() {
  return 1 - rank();
}

class Network : public testing::TestWithParam<MemoryKind> {};

TEST_P(Network, a_payload_of_any_size_arrives_on_a_device_and_on_the_host) {
  // around an envelope, a chunk, the size from which chunks are taken, and a ring
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{65}, 128 * kib, 128 * kib + 1, 256 * kib,
                                  300 * kib, 1 * mib - 1, 9 * mib + 7}) {
    for (const MemoryKind destination : {MemoryKind::device, MemoryKind::pinned, MemoryKind::pageable}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes to " << name_of(destination));
      const Buffer buffer(rank() == 0 ? GetParam() : destination, bytes, rank() == 0 ? 1 : 2);
      if (rank() == 0) {
        MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      } else {
        MPI_Status status;
        MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        EXPECT_EQ(count, buffer.count());
        EXPECT_EQ(status.MPI_SOURCE, 0);
      }
      EXPECT_TRUE(buffer.read() == payload(bytes, 1));
      EXPECT_TRUE(buffer.guard_is_intact());
    }
  }
}

TEST_P(Network, payloads_in_both_directions_at_once_arrive) {
  constexpr std::size_t bytes = 9 * mib + 1;
  const Buffer to_send(GetParam(), bytes, static_cast<std::uint64_t>(rank()));
  Buffer received(GetParam(), bytes, 2);
  MPI_Sendrecv(to_send.data(), to_send.count(), MPI_BYTE, other(), 0, received.data(), received.count(),
               MPI_BYTE, other(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_TRUE(received.read() == payload(bytes, static_cast<std::uint64_t>(other())));
  // and by blocking sends, as the receives are there
  MPI_Request request = MPI_REQUEST_NULL;
  received.write(payload(bytes, 2));
  MPI_Irecv(received.data(), received.count(), MPI_BYTE, other(), 0, MPI_COMM_WORLD, &request);
  MPI_Send(to_send.data(), to_send.count(), MPI_BYTE, other(), 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_TRUE(received.read() == payload(bytes, static_cast<std::uint64_t>(other())));
}

/// Both ranks send each other so many at once, and receive them in the opposite order, one after another.
void exchange_in_opposite_order(MemoryKind kind, int messages, std::size_t bytes) {
  std::vector<Buffer> sent;
  std::vector<MPI_Request> requests(static_cast<std::size_t>(messages));
  sent.reserve(requests.size());
  for (int message = 0; message < messages; ++message) {
    const Buffer& buffer = sent.emplace_back(kind, bytes, static_cast<std::uint64_t>(2 * message + rank()));
    MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, other(), message, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(message)]);
  }
  const Buffer received(kind, bytes, 1);
  for (int message = messages; message-- > 0;) {
    MPI_Recv(received.data(), received.count(), MPI_BYTE, other(), message, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    EXPECT_TRUE(received.read() == payload(bytes, static_cast<std::uint64_t>(2 * message + other())))
        << "message " << message;
  }
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  EXPECT_TRUE(received.guard_is_intact());
}

TEST_P(Network, more_payloads_at_once_than_there_are_rings_arrive_in_whatever_order_they_are_received) {
  exchange_in_opposite_order(GetParam(), 20, 600 * kib + 3);
}

TEST_P(Network, a_payload_in_pieces_arrives_in_pieces_on_a_device_and_on_the_host) {
  for (const MemoryKind destination : {GetParam(), MemoryKind::pageable})
    expect_pieces_to_arrive(GetParam(), destination);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Network,
                         testing::Values(MemoryKind::device, MemoryKind::virtual_memory,
                                         MemoryKind::managed));

TEST(NetworkMessages, thousands_under_way_arrive_in_whatever_order_they_are_received) {
  exchange_in_opposite_order(MemoryKind::device, 2000, 1000);
}

TEST(NetworkMessages, a_probe_tells_the_size_of_the_payload) {
  constexpr std::size_t bytes = 2 * mib + 5;
  const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
  if (rank() == 0) {
    MPI_Ssend(buffer.data(), buffer.count(), MPI_BYTE, 1, 7, MPI_COMM_WORLD);
  } else {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, static_cast<int>(bytes));
    MPI_Recv(buffer.data(), count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    EXPECT_TRUE(buffer.read() == payload(bytes, 1));
  }
}

TEST(NetworkMessages, a_payload_for_which_there_is_no_room_is_an_error_of_the_receiver_alone) {
  constexpr std::size_t bytes = 12 * mib;
  constexpr int room = 5 * mib;
  const ErrorsReturned errors_returned;
  const Buffer sent(MemoryKind::device, bytes, 1);
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pageable}) {
    const Buffer received(kind, bytes, 2);
    if (rank() == 0) {
      EXPECT_EQ(MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
      EXPECT_EQ(MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    } else {
      EXPECT_EQ(class_of(MPI_Recv(received.data(), room, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
                MPI_ERR_TRUNCATE);
      const Bytes seen = received.read();
      EXPECT_TRUE(std::equal(seen.begin() + room, seen.end(), payload(bytes, 2).begin() + room));
      MPI_Recv(received.data(), received.count(), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_TRUE(received.read() == payload(bytes, 1));
    }
  }
}

TEST(NetworkMessages, a_send_is_either_cancelled_or_delivered) {
  constexpr std::size_t bytes = mib;
  const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
  int is_cancelled = 0;
  if (rank() == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Issend(buffer.data(), buffer.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Status status;
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    MPI_Send(&is_cancelled, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    return;
  }
  // not every MPI cancels sends: the receiver takes what comes until it hears what became of it
  int has_come = 0;
  for (int is_told = 0; is_told == 0;) {
    if (has_come == 0) {
      MPI_Iprobe(0, 0, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
      if (has_come != 0)
        MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Iprobe(0, 1, MPI_COMM_WORLD, &is_told, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&is_cancelled, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQ(has_come, 1 - is_cancelled);
  EXPECT_TRUE(buffer.read() == payload(bytes, is_cancelled != 0 ? 2 : 1));
}

TEST(NetworkMessages, a_sender_that_was_let_go_may_change_its_buffer_before_the_receiver_comes) {
  constexpr std::size_t bytes = 3 * mib + 9;
  Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
  if (rank() == 0) {
    MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    buffer.write(payload(bytes, 3));
    const int word = 1;
    MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else {
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_TRUE(buffer.read() == payload(bytes, 1));
  }
}

TEST(NetworkMessages, a_collective_does_not_hold_up_a_payload_that_it_depends_on) {
  constexpr std::size_t bytes = 3 * mib;
  const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
  // either rank comes to the collective while the other still needs it for the message
  for (const bool sender_is_first : {true, false}) {
    MPI_Request request = MPI_REQUEST_NULL;
    const bool is_first = (rank() == 0) == sender_is_first;
    if (rank() == 0) {
      MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    } else {
      MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    }
    if (!is_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(sum, 2);
    if (is_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_TRUE(buffer.read() == payload(bytes, 1));
  }
}

}  // namespace
}  // namespace penstock::programs
