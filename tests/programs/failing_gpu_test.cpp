// Programs whose GPU fails them: the message ends with an error on both sides and nobody waits for ever. Run
// with asynchronous copies of the driver made to fail: all of them, or (FailingOnce) the fourth of each rank.
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

class FailingGpu : public testing::Test {
 protected:
  void SetUp() override { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }

  /// Rank 0 sends, rank 1 receives; neither may succeed.
  static void expect_failure(MemoryKind kind, std::size_t bytes) {
    SCOPED_TRACE(name_of(kind));
    const Buffer buffer(kind, bytes);
    if (rank() == 0) {
      EXPECT_NE(MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    } else if (rank() == 1) {
      EXPECT_NE(MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
      EXPECT_TRUE(buffer.guard_is_intact());
    }
  }
};

TEST_F(FailingGpu, a_small_payload_that_cannot_be_staged_is_an_error_on_both_sides) {
  expect_failure(MemoryKind::async_pool, 32768);
}

TEST_F(FailingGpu, a_large_payload_that_cannot_be_staged_is_an_error_on_both_sides) {
  expect_failure(MemoryKind::async_pool, 1 << 20);
}

/// A payload in chunks, some of which are through when a copy fails.
TEST(FailingOnce, a_payload_that_breaks_off_is_an_error_where_it_breaks_off_and_the_next_one_arrives) {
  const ErrorsReturned errors_returned;
  constexpr std::size_t bytes = 1 << 20;
  const auto pass = [&](std::uint64_t seed) {
    const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? seed : 0);
    const int code = rank() == 0 ? MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 0, MPI_COMM_WORLD)
                                 : MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                                            MPI_STATUS_IGNORE);
    EXPECT_TRUE(buffer.guard_is_intact());
    EXPECT_TRUE(code != MPI_SUCCESS || buffer.read() == payload(bytes, seed));
    return code;
  };
  // the sender's fourth copy fails; so the receiver, which must be told, has made three at most
  EXPECT_NE(pass(1), MPI_SUCCESS);
  // now the receiver's does, for whose sake nobody need be told
  EXPECT_EQ(pass(2) == MPI_SUCCESS, rank() == 0);
  EXPECT_EQ(pass(3), MPI_SUCCESS);
}

}  // namespace
}  // namespace penstock::programs
