// Ranks that have passed a collective of one communicator and come to those of others, while a rank with
// messages pending is still to come. Run with a late-receiver timeout of half a minute: a rank that waited
// for another that has long passed would be stopped by the watchdog.
#include <vector>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

/// So many that some of them have the same place of 512 to look at first (ids are the same in each run), and
/// so few that what rank 1 sends on all of them is buffered.
constexpr std::size_t communicator_count = 40;

TEST(PassedCollectives, of_many_communicators_are_not_waited_for) {
  std::vector<MPI_Comm> communicators(communicator_count);
  for (MPI_Comm& communicator : communicators) MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  const Buffer pending(MemoryKind::device, 100'000);
  if (rank() == 0) {
    // rank 1 has been through all by then: only the root of a small gather waits for others
    int all_passed = 0;
    MPI_Recv(&all_passed, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(pending.data(), pending.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      test_support::progress("gather %zu", i);
      const int number = -1;
      std::vector<int> numbers(2);
      MPI_Gather(&number, 1, MPI_INT, numbers.data(), 1, MPI_INT, 0, communicators[i]);
      EXPECT_EQ(numbers[1], static_cast<int>(i));
    }
    int all_received = 1;
    MPI_Send(&all_received, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      const int number = static_cast<int>(i);
      MPI_Gather(&number, 1, MPI_INT, nullptr, 0, MPI_INT, 0, communicators[i]);
    }
    int all_passed = 1;
    MPI_Send(&all_passed, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    int all_received = 0;
    MPI_Recv(&all_received, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(pending.data(), pending.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD);
  }
  for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
}

}  // namespace
}  // namespace penstock::programs
