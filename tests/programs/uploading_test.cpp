// Large payloads from host memory, which go to a device by an envelope once their receiver has shown that it
// wants them there, and through the MPI library otherwise. Run as it is, and with drivers that refuse what
// pushing needs: they arrive all the same.
#include <array>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t mib = 1u << 20;
constexpr int messages = 4;  ///< of one kind: the first ones show where they go

class Uploading : public testing::TestWithParam<MemoryKind> {
 protected:
  [[nodiscard]] static int other() { return 1 - rank(); }
  /// So that sends to this rank may be envelopes from the first test on.
  void SetUp() override {
    const Buffer gpu(MemoryKind::device, 128, 1);
    MPI_Sendrecv_replace(gpu.data(), 128, MPI_BYTE, other(), 0, other(), 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
  }
};

TEST_P(Uploading, payloads_of_any_size_arrive) {
  // around the size from which they go by an envelope, a chunk, a ring
  for (const std::size_t bytes : {mib / 4 - 1, mib / 4, mib + 3, 4 * mib + 5, 16 * mib, 40 * mib + 7}) {
    for (std::uint64_t message = 0; message < messages; ++message) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, message " << message);
      if (rank() == 0) {
        const Buffer sent(GetParam(), bytes, message);
        MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      } else {
        const Buffer received(MemoryKind::device, bytes, 100);
        MPI_Status status;
        MPI_Recv(received.data(), received.count(), MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        EXPECT_EQ(static_cast<std::size_t>(count), bytes);
        EXPECT_TRUE(received.read() == payload(bytes, message));
        EXPECT_TRUE(received.guard_is_intact());
      }
    }
  }
}

TEST_P(Uploading, payloads_that_go_elsewhere_than_those_before_arrive) {
  constexpr std::array kinds = {MemoryKind::device,     MemoryKind::device,  MemoryKind::pageable,
                                MemoryKind::pageable,   MemoryKind::device,  MemoryKind::pinned,
                                MemoryKind::async_pool, MemoryKind::managed, MemoryKind::virtual_memory};
  constexpr std::size_t bytes = 2 * mib + 1;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "message " << i);
    const Buffer buffer(rank() == 0 ? GetParam() : kinds[i], bytes, rank() == 0 ? i : 100);
    if (rank() == 0) {
      MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_TRUE(buffer.read() == payload(bytes, i));
      EXPECT_TRUE(buffer.guard_is_intact());
    }
  }
}

TEST_P(Uploading, payloads_in_both_directions_at_once_arrive) {
  constexpr std::size_t bytes = 9 * mib + 1;
  for (std::uint64_t message = 0; message < messages; ++message) {
    const auto seed = [&](int sender) { return 2 * message + static_cast<std::uint64_t>(sender); };
    const Buffer sent(GetParam(), bytes, seed(rank()));
    const Buffer received(MemoryKind::device, bytes, 100);
    MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, other(), 1, received.data(), received.count(), MPI_BYTE,
                 other(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_TRUE(received.read() == payload(bytes, seed(other())));
  }
}

TEST_P(Uploading, more_payloads_at_once_than_go_through_rings_at_a_time_arrive) {
  constexpr std::size_t bytes = mib + 3;
  constexpr int at_once = 24;
  for (std::uint64_t round = 0; round < 2; ++round) {  // the first shows where they go
    std::vector<Buffer> buffers;
    std::vector<MPI_Request> requests(at_once, MPI_REQUEST_NULL);
    buffers.reserve(at_once);
    for (int i = 0; i < at_once; ++i) {
      const bool sends = rank() == 0;
      const auto seed = round * at_once + static_cast<std::uint64_t>(i);
      const Buffer& buffer =
          buffers.emplace_back(sends ? GetParam() : MemoryKind::device, bytes, sends ? seed : 999);
      MPI_Request& request = requests[static_cast<std::size_t>(i)];
      if (sends) {
        MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 6, MPI_COMM_WORLD, &request);
      } else {
        MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 6, MPI_COMM_WORLD, &request);
      }
    }
    MPI_Waitall(at_once, requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < at_once; ++i) {
      EXPECT_TRUE(buffers[i].read() == payload(bytes, round * at_once + i)) << "message " << i;
    }
  }
}

TEST_P(Uploading, a_sender_does_not_wait_for_ever_for_its_receiver) {
  constexpr std::size_t bytes = 3 * mib;
  const auto exchange = [&](bool sends_first, std::uint64_t message) {
    Buffer sent(GetParam(), bytes, message);
    const Buffer received(MemoryKind::device, bytes, 100);
    const auto send = [&] { MPI_Send(sent.data(), sent.count(), MPI_BYTE, other(), 2, MPI_COMM_WORLD); };
    if (sends_first) {
      send();
      sent.write(payload(bytes, 200));  // the buffer is the program's again
    }
    MPI_Recv(received.data(), received.count(), MPI_BYTE, other(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!sends_first) send();
    EXPECT_TRUE(received.read() == payload(bytes, message));
  };
  exchange(rank() == 0, 1);
  exchange(rank() == 0, 2);
  // both at once: more than MPI promises, but device payloads are buffered after a while, and so are these
  exchange(true, 3);
}

TEST_P(Uploading, a_receive_with_too_little_room_fails_and_the_next_one_works) {
  constexpr std::size_t bytes = mib;
  const ErrorsReturned errors;
  for (const std::size_t room : {bytes, bytes, bytes / 2, bytes}) {
    if (rank() == 0) {
      const Buffer sent(GetParam(), bytes, 5);
      EXPECT_EQ(MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1, 4, MPI_COMM_WORLD), MPI_SUCCESS);
    } else {
      const Buffer received(MemoryKind::device, room, 100);
      const int code =
          MPI_Recv(received.data(), received.count(), MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(class_of(code), room < bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      EXPECT_TRUE(received.guard_is_intact());
      EXPECT_TRUE(room < bytes || received.read() == payload(bytes, 5));
    }
  }
}

TEST_P(Uploading, a_persistent_send_finds_out_where_its_payload_goes) {
  constexpr std::size_t bytes = mib;
  Buffer buffer(rank() == 0 ? GetParam() : MemoryKind::device, bytes, 100);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) {
    MPI_Send_init(buffer.data(), buffer.count(), MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request);
  } else {
    MPI_Recv_init(buffer.data(), buffer.count(), MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
  }
  for (std::uint64_t message = 0; message < messages; ++message) {
    if (rank() == 0) buffer.write(payload(bytes, message));
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_TRUE(buffer.read() == payload(bytes, message)) << "message " << message;
  }
  MPI_Request_free(&request);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Uploading, testing::Values(MemoryKind::pageable, MemoryKind::pinned));

}  // namespace
}  // namespace penstock::programs
