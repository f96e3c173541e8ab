// Synchronous sends complete when a receive is matched with them, and not before: neither on a probe, which
// must take the envelope to tell the payload's size, nor because the payload was copied aside meanwhile. Run
// with little timeout, so that this happens soon.
#include <chrono>
#include <functional>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr int message_tag = 1;
constexpr int other_tag = 2;
constexpr int looked_tag = 3;
constexpr int go_on_tag = 4;

bool completes_within(MPI_Request& request, std::chrono::milliseconds time) {
  const auto begin = std::chrono::steady_clock::now();
  int complete = 0;
  while (complete == 0 && std::chrono::steady_clock::now() - begin < time)
    MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
  return complete != 0;
}

void send_token(int tag) {
  MPI_Send(nullptr, 0, MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD);
}
void receive_token(int tag) {
  MPI_Recv(nullptr, 0, MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

struct Message {
  MemoryKind kind;
  std::size_t bytes;
};

void PrintTo(const Message& message, std::ostream* out) {
  *out << name_of(message.kind) << ", " << message.bytes << " bytes";
}

class Synchronous : public testing::TestWithParam<Message> {
 protected:
  /// Rank 0 sends while rank 1 does no more than `look`, and looks for itself that the send stays incomplete.
  static void expect_to_wait_after(const std::function<void()>& look) {
    const auto [kind, bytes] = GetParam();
    const Buffer buffer(kind, bytes, rank() == 0 ? 1 : 2);
    const Buffer other(MemoryKind::device, 5000, rank() == 0 ? 3 : 4);
    if (rank() == 0) {
      MPI_Request requests[2];
      MPI_Issend(buffer.data(), buffer.count(), MPI_BYTE, 1, message_tag, MPI_COMM_WORLD, &requests[0]);
      // an envelope that is on its way too
      MPI_Isend(other.data(), other.count(), MPI_BYTE, 1, other_tag, MPI_COMM_WORLD, &requests[1]);
      receive_token(looked_tag);
      EXPECT_FALSE(completes_within(requests[0], std::chrono::milliseconds(60)));
      send_token(go_on_tag);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      look();
      send_token(looked_tag);
      receive_token(go_on_tag);
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffer.read(), payload(bytes, 1));
      MPI_Recv(other.data(), other.count(), MPI_BYTE, 0, other_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(other.read(), payload(5000, 3));
    }
  }
};

TEST_P(Synchronous, a_send_that_nobody_receives_stays_incomplete) {
  expect_to_wait_after([] {});
}

TEST_P(Synchronous, a_send_that_was_only_probed_stays_incomplete) {
  expect_to_wait_after([] {
    MPI_Status status;
    MPI_Probe(0, message_tag, MPI_COMM_WORLD, &status);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    EXPECT_EQ(static_cast<std::size_t>(bytes), GetParam().bytes);
  });
}

TEST_P(Synchronous, a_send_that_another_tags_probe_took_ahead_stays_incomplete) {
  expect_to_wait_after([] { MPI_Probe(0, other_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
}

INSTANTIATE_TEST_SUITE_P(Messages, Synchronous,
                         testing::Values(Message{MemoryKind::device, 5000},
                                         Message{MemoryKind::device, 200'000},
                                         Message{MemoryKind::async_pool, 200'000},
                                         // as large as an envelope, on the host
                                         Message{MemoryKind::pageable, 64}));

}  // namespace
}  // namespace penstock::programs
