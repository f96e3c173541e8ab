// Large payloads from memory that other processes cannot map, between ranks. Run as it is, and with a driver
// that has no device memory for the ring or refuses to map it: they arrive all the same.
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t mib = 1u << 20;

class Relaying : public testing::TestWithParam<MemoryKind> {
 protected:
  [[nodiscard]] static int other() { return 1 - rank(); }
};

TEST_P(Relaying, a_payload_of_any_size_arrives) {
  // around the size from which payloads are relayed, a chunk, and the largest ring
  for (const std::size_t bytes : {65 * mib / 1024, 2 * mib + 1, 8 * mib, 8 * mib + 7, 70 * mib + 3}) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes");
    const Buffer buffer(GetParam(), bytes, rank() == 0 ? 1 : 2);
    if (rank() == 0) {
      MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    EXPECT_TRUE(buffer.read() == payload(bytes, 1));
    EXPECT_TRUE(buffer.guard_is_intact());
  }
}

TEST_P(Relaying, payloads_in_both_directions_at_once_arrive) {
  constexpr std::size_t bytes = 36 * mib + 1;
  const Buffer to_send(GetParam(), bytes, static_cast<std::uint64_t>(rank()));
  const Buffer received(GetParam(), bytes, 2);
  MPI_Sendrecv(to_send.data(), to_send.count(), MPI_BYTE, other(), 0, received.data(), received.count(),
               MPI_BYTE, other(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_TRUE(received.read() == payload(bytes, static_cast<std::uint64_t>(other())));
}

TEST_P(Relaying, more_payloads_at_once_than_there_is_memory_to_relay_through_arrive) {
  constexpr int messages = 24;
  constexpr std::size_t bytes = 5 * mib + 3;
  std::vector<Buffer> buffers;
  std::vector<MPI_Request> requests;
  buffers.reserve(messages);
  for (int message = 0; message < messages; ++message) {
    const auto seed = static_cast<std::uint64_t>(message);
    const Buffer& buffer = buffers.emplace_back(GetParam(), bytes, rank() == 0 ? seed : 100);
    MPI_Request& request = requests.emplace_back();
    if (rank() == 0) {
      MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, message, MPI_COMM_WORLD, &request);
    } else {
      MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, message, MPI_COMM_WORLD, &request);
    }
  }
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  for (int message = 0; message < messages; ++message) {
    const Buffer& buffer = buffers[static_cast<std::size_t>(message)];
    EXPECT_TRUE(buffer.read() == payload(bytes, static_cast<std::uint64_t>(message)))
        << "message " << message;
    EXPECT_TRUE(buffer.guard_is_intact());
  }
}

TEST_P(Relaying, a_payload_in_pieces_arrives_in_pieces) {
  expect_pieces_to_arrive(GetParam(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Kinds, Relaying,
                         testing::Values(MemoryKind::async_pool, MemoryKind::virtual_memory,
                                         MemoryKind::managed));

}  // namespace
}  // namespace penstock::programs
