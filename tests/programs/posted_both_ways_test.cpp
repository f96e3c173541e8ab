// Posted receives where both ranks send and receive: who writes, and who reads. Runs with
// PENSTOCK_POSTED_RECEIVES=1, on two ranks.
#include <chrono>
#include <thread>

#include "tests/programs/posted_receives.hpp"

namespace penstock::programs {
namespace {

TEST_F(PostedReceives, in_exchanges_of_both_directions_are_right) {
  const int other = 1 - rank();
  for (int round = 0; round < 5 && rank() < 2; ++round) {
    for (const std::size_t bytes : {100u, 5000u, 70000u, 1u << 20}) {
      const auto seed = [&](int of) { return static_cast<std::uint64_t>(10 * round + of); };
      const Buffer sent(MemoryKind::device, bytes, seed(rank()));
      const Buffer received(MemoryKind::device, bytes);
      MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, other, tag, received.data(), received.count(),
                   MPI_BYTE, other, tag, communicator_, MPI_STATUS_IGNORE);
      EXPECT_TRUE(received.read() == payload(bytes, seed(other)));
      MPI_Request requests[2];
      const Buffer again(MemoryKind::device, bytes);
      MPI_Irecv(again.data(), again.count(), MPI_BYTE, other, tag, communicator_, &requests[0]);
      MPI_Isend(sent.data(), sent.count(), MPI_BYTE, other, tag, communicator_, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      EXPECT_TRUE(again.read() == payload(bytes, seed(other)));
      MPI_Sendrecv_replace(again.data(), again.count(), MPI_BYTE, other, tag, other, tag, communicator_,
                           MPI_STATUS_IGNORE);
      EXPECT_TRUE(again.read() == payload(bytes, seed(rank())));
    }
  }
}

/// Both ways, and rank 1 sends before rank 0 has posted its receive: rank 0 has to read that payload.
/// `send_and_wait` sends rank 0's, and waits for both.
template <typename SendAndWait>
void exchange_where_rank_0_reads(MPI_Comm communicator, SendAndWait send_and_wait) {
  SharedWord word;
  if (rank() > 1) return;
  const int other = 1 - rank();
  const Buffer sent(MemoryKind::device, large, static_cast<std::uint64_t>(rank()));
  const Buffer received(MemoryKind::device, large);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank() == 0) word.await(1);
  MPI_Irecv(received.data(), received.count(), MPI_BYTE, other, tag, communicator, &requests[0]);
  if (rank() == 0) {
    send_and_wait(sent, requests[0]);
  } else {
    MPI_Isend(sent.data(), sent.count(), MPI_BYTE, other, tag, communicator, &requests[1]);
    word.set(1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  EXPECT_TRUE(received.read() == payload(large, static_cast<std::uint64_t>(other)));
}

TEST_F(PostedReceives, are_not_written_by_a_rank_that_has_to_read_meanwhile) {
  exchange_where_rank_0_reads(communicator_, [&](const Buffer& sent, MPI_Request& incoming) {
    MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1, tag, communicator_);
    wait(incoming);
  });
  expect_written(0);
}

TEST_F(PostedReceives, are_written_by_a_rank_that_has_to_read_and_computes_first) {
  for (int round = 0; round < 2; ++round) {
    before_ = counts();
    exchange_where_rank_0_reads(communicator_, [&](const Buffer& sent, MPI_Request& incoming) {
      const MPI_Request outgoing = send(sent);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      wait(outgoing);
      wait(incoming);
    });
  }
  expect_written(1);  // of the second round, as the first says what the rank does between posts and wait
}

}  // namespace
}  // namespace penstock::programs
