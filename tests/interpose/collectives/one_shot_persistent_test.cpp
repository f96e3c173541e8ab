// Small persistent collectives, each start of which is a kernel on each rank that no rank has announced to
// the others. What they must do in general is in persistent_test.cpp.
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/each_kind.hpp"
#include "tests/interpose/collectives/numbers.hpp"
#include "tests/support/faulty_driver/faulty_driver.hpp"
#include "tests/support/memory.hpp"

#if PENSTOCK_HAS_MPI_4
namespace penstock::test_support {
namespace {

constexpr int numbers = 500;
constexpr std::size_t vector_bytes = numbers * sizeof(int);

/// An MPI_Allreduce that adds up, in place.
class Sum {
 public:
  explicit Sum(const World& world, MPI_Comm communicator = MPI_COMM_WORLD)
      : world_(world), memory_(numbers_on_device(world, numbers)) {
    EXPECT_EQ(MPI_Allreduce_init(MPI_IN_PLACE, memory_.data(), numbers, MPI_INT, MPI_SUM, communicator,
                                 MPI_INFO_NULL, &request_),
              MPI_SUCCESS);
  }
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;
  ~Sum() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

  void write(int value) { write_all(memory_, value + world_.rank); }
  [[nodiscard]] Memory& memory() { return memory_; }
  void start() { EXPECT_EQ(MPI_Start(&request_), MPI_SUCCESS); }
  int wait() { return MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  void expect_sum_of(int value) {
    EXPECT_TRUE(counts_up(memory_, 0, numbers, sum_of_firsts(world_, value), world_.size));
  }

 private:
  const World& world_;
  Memory memory_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

TEST(OneShotPersistent, follow_each_other_as_often_as_they_are_started) {
  const World world;
  Sum sum(world);
  for (int round = 0; round < 150; ++round) {
    sum.write(round);
    sum.start();
    EXPECT_EQ(sum.wait(), MPI_SUCCESS);
    sum.expect_sum_of(round);
  }
}

/// More than have memory of their own, each rank in an order of its own; then half of them go, and others
/// come.
TEST(OneShotPersistent, several_are_started_and_end_in_any_order) {
  const World world;
  std::deque<Sum> sums;
  for (int i = 0; i < 20; ++i) sums.emplace_back(world);
  for (int round = 0; round < 8; ++round) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].write(round * 100 + static_cast<int>(i));
    const auto shift = static_cast<std::size_t>(world.rank * 7 + round);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[(i + shift) % sums.size()].start();
    for (std::size_t i = sums.size(); i-- > 0;)
      EXPECT_EQ(sums[(i + 3 * shift) % sums.size()].wait(), MPI_SUCCESS);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].expect_sum_of(round * 100 + static_cast<int>(i));
    if (round == 4) {
      for (int i = 0; i < 10; ++i) {
        sums.pop_front();
        sums.emplace_back(world);
      }
    }
  }
}

/// The others have started long before, and one of them computes meanwhile.
TEST(OneShotPersistent, wait_for_a_late_rank) {
  const World world;
  Sum sum(world);
  Sum beside(world);
  for (int late = 0; late < world.size; ++late) {
    sum.write(late);
    beside.write(late + 1);
    if (world.rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    sum.start();
    beside.start();
    EXPECT_EQ(beside.wait(), MPI_SUCCESS);
    EXPECT_EQ(sum.wait(), MPI_SUCCESS);
    sum.expect_sum_of(late);
    beside.expect_sum_of(late + 1);
  }
}

/// What the program has queued before a start is in the sum; what it queues after it waits for nothing.
TEST(OneShotPersistent, begin_after_what_the_application_has_queued) {
  const World world;
  Sum sum(world);
  constexpr std::size_t large = std::size_t{8} << 20;
  Memory source(MemoryKind::pinned, large, world.rank % gpu_count());
  Memory target(MemoryKind::device, large, world.rank % gpu_count());
  std::vector<int> own(numbers);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < numbers; ++i) own[static_cast<std::size_t>(i)] = round + world.rank + i;
    target.write_in_stream_order(0, source.data(), large);
    source.write(0, own.data(), vector_bytes);
    sum.memory().write_in_stream_order(0, source.data(), vector_bytes);
    sum.start();
    target.write_in_stream_order(0, source.data(), large);
    EXPECT_EQ(sum.wait(), MPI_SUCCESS);
    sum.expect_sum_of(round);
  }
}

TEST(OneShotPersistent, take_turns_with_blocking_ones_and_messages) {
  const World world;
  Sum sum(world);
  Memory other = numbers_on_device(world, numbers);
  Memory message = numbers_on_device(world, numbers);
  const int next = (world.rank + 1) % world.size;
  const int previous = (world.rank + world.size - 1) % world.size;
  for (int round = 0; round < 30; ++round) {
    sum.write(round);
    write_all(other, 3 * round + world.rank);
    write_all(message, 7 * round + world.rank);
    sum.start();
    MPI_Sendrecv_replace(message.data(), numbers, MPI_INT, next, 1, previous, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, other.data(), numbers, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(sum.wait(), MPI_SUCCESS);
    sum.expect_sum_of(round);
    EXPECT_TRUE(counts_up(other, 0, numbers, sum_of_firsts(world, 3 * round), world.size));
    EXPECT_TRUE(counts_up(message, 0, numbers, 7 * round + previous));
  }
}

TEST(OneShotPersistent, of_every_kind_deliver_what_they_should) {
  const World world;
  // the MPI library does them then, and MPICH 4.0 on four ranks sends the same small blocks at each start
  if (gpu_count() < world.size) GTEST_SKIP() << "needs a GPU for each rank";
  EachKind kinds(world, numbers);
  std::array<MPI_Request, EachKind::kinds> requests{};
  const MPI_Comm all = MPI_COMM_WORLD;
  const void* const sent = kinds.sent().data();
  MPI_Allgather_init(sent, numbers, MPI_INT, kinds.received(0), numbers, MPI_INT, all, MPI_INFO_NULL,
                     &requests[0]);
  MPI_Alltoall_init(sent, numbers, MPI_INT, kinds.received(1), numbers, MPI_INT, all, MPI_INFO_NULL,
                    &requests[1]);
  MPI_Reduce_scatter_block_init(sent, kinds.received(2), numbers, MPI_INT, MPI_SUM, all, MPI_INFO_NULL,
                                &requests[2]);
  MPI_Scan_init(sent, kinds.received(3), numbers, MPI_INT, MPI_SUM, all, MPI_INFO_NULL, &requests[3]);
  MPI_Exscan_init(sent, kinds.received(4), numbers, MPI_INT, MPI_SUM, all, MPI_INFO_NULL, &requests[4]);
  const int root = kinds.root();
  MPI_Gather_init(sent, numbers, MPI_INT, kinds.received(5), numbers, MPI_INT, root, all, MPI_INFO_NULL,
                  &requests[5]);
  MPI_Scatter_init(sent, numbers, MPI_INT, kinds.received(6), numbers, MPI_INT, root, all, MPI_INFO_NULL,
                   &requests[6]);
  MPI_Reduce_init(sent, kinds.received(7), numbers, MPI_INT, MPI_SUM, root, all, MPI_INFO_NULL, &requests[7]);
  MPI_Alltoallv_init(sent, kinds.sent_counts(), kinds.sent_displacements(), MPI_INT, kinds.received(8),
                     kinds.received_counts(), kinds.received_displacements(), MPI_INT, all, MPI_INFO_NULL,
                     &requests[8]);
  for (int round = 0; round < 20; ++round) {
    kinds.write(round);
    MPI_Startall(EachKind::kinds, requests.data());
    MPI_Waitall(EachKind::kinds, requests.data(), MPI_STATUSES_IGNORE);
    kinds.expect_right(round);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

/// Run where the driver's faults can be set, with a GPU for each rank, and no kernel that stands by.
TEST(OneShotPersistent, DISABLED_that_one_rank_cannot_start_are_an_MPI_error_on_all) {
  const World world;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  // so that it has a place where failures are noted, and all rely on it
  Memory memory = numbers_on_device(world, numbers);
  for (int round = 0; round < 6; ++round)
    MPI_Allreduce(MPI_IN_PLACE, memory.data(), numbers, MPI_INT, MPI_SUM, communicator);
  {
    Sum sum(world, communicator);
    sum.write(1);
    sum.start();
    EXPECT_EQ(sum.wait(), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    const bool is_faulty = world.rank == world.size - 1;
    if (is_faulty) faulty_driver_fail("cuLaunchKernel:700");
    sum.start();
    EXPECT_NE(sum.wait(), MPI_SUCCESS);
    if (is_faulty) faulty_driver_fail("");
  }
  MPI_Comm_free(&communicator);
}

}  // namespace
}  // namespace penstock::test_support
#endif
