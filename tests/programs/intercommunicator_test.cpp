// Device messages between two groups, where ranks of the two sides count separately.
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

/// Even ranks on one side, odd ranks on the other.
class Intercommunicators : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, rank(), &local_);
    MPI_Intercomm_create(local_, 0, MPI_COMM_WORLD, rank() % 2 == 0 ? 1 : 0, 12, &inter_);
    MPI_Comm_rank(local_, &local_rank_);
  }
  void TearDown() override {
    MPI_Comm_free(&inter_);
    MPI_Comm_free(&local_);
  }
  [[nodiscard]] static bool is_left() { return rank() % 2 == 0; }

  MPI_Comm local_ = MPI_COMM_NULL;
  MPI_Comm inter_ = MPI_COMM_NULL;
  int local_rank_ = 0;
};

TEST_F(Intercommunicators, MPI_Send_reaches_the_rank_of_the_other_group) {
  for (const std::size_t bytes : {10u, 64u, 5000u, 70000u, 1u << 20}) {
    SCOPED_TRACE(bytes);
    const Buffer buffer(MemoryKind::device, bytes, bytes + static_cast<std::uint64_t>(rank()));
    if (is_left()) {
      MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, local_rank_, 3, inter_);
    } else {
      MPI_Status status{};
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, inter_, &status);
      EXPECT_EQ(status.MPI_SOURCE, local_rank_);
      EXPECT_EQ(buffer.read(), payload(bytes, bytes + static_cast<std::uint64_t>(rank() - 1)));
    }
  }
}

TEST_F(Intercommunicators, both_sides_may_send_and_receive_at_once) {
  constexpr std::size_t bytes = 200000;
  const Buffer sent(MemoryKind::device, bytes, 10 + static_cast<std::uint64_t>(rank()));
  const Buffer received(MemoryKind::device, bytes);
  MPI_Request requests[2];
  MPI_Irecv(received.data(), received.count(), MPI_BYTE, local_rank_, 1, inter_, &requests[0]);
  MPI_Isend(sent.data(), sent.count(), MPI_BYTE, local_rank_, 1, inter_, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(received.read(),
            payload(bytes, 10 + static_cast<std::uint64_t>(is_left() ? rank() + 1 : rank() - 1)));
}

TEST_F(Intercommunicators, MPI_Bcast_reaches_the_other_group) {
  constexpr std::size_t bytes = 70000;
  const Buffer buffer(MemoryKind::device, bytes, 20 + static_cast<std::uint64_t>(rank()));
  const int root = is_left() ? (local_rank_ == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  MPI_Bcast(buffer.data(), buffer.count(), MPI_BYTE, root, inter_);
  EXPECT_EQ(buffer.read(), payload(bytes, is_left() ? 20 + static_cast<std::uint64_t>(rank()) : 20));
}

TEST_F(Intercommunicators, MPI_Allreduce_gives_each_group_the_sum_of_the_other) {
  Memory sent(MemoryKind::device, sizeof(int), own_device());
  Memory received(MemoryKind::device, sizeof(int), own_device());
  const int one = rank() + 1;
  sent.write(0, &one, sizeof one);
  MPI_Allreduce(sent.data(), received.data(), 1, MPI_INT, MPI_SUM, inter_);
  int sum = 0;
  received.read(0, &sum, sizeof sum);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int expected = 0;
  for (int other = is_left() ? 1 : 0; other < size; other += 2) expected += other + 1;
  EXPECT_EQ(sum, expected);
}

}  // namespace
}  // namespace penstock::programs
