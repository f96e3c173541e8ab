// Non-blocking collectives on which the ranks agree in later calls: many under way, ranks far ahead of others
// or away in other calls, arguments freed or wrong. What each function delivers is compared in
// collectives_test.cpp, and that they go by messages is seen in nonblocking_job.sh.
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/numbers.hpp"
#include "tests/support/busy_gpu.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {
namespace {

/// On a communicator that no blocking call made, the ranks agree from the first non-blocking collective on a
/// device and two blocking ones after it on. (Others: new_communicators_test.cpp.)
class NonblockingCollectives : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() == 0) GTEST_SKIP() << "no GPU";
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, &all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    Memory memory = on_device(elements);
    MPI_Ibcast(memory.data(), count, MPI_INT, 0, all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(all);
    MPI_Barrier(all);
  }
  void TearDown() override {
    if (all != MPI_COMM_NULL) MPI_Comm_free(&all);
  }

  [[nodiscard]] Memory on_device(std::size_t numbers) const { return numbers_on_device(world, numbers); }
  /// Of messages of the host between neighbours, which are not collective: this rank is ahead of the next.
  void let_next_rank_go() const {
    if (world.rank + 1 < world.size) MPI_Send(nullptr, 0, MPI_INT, world.rank + 1, 0, MPI_COMM_WORLD);
  }
  void wait_for_rank_before() const {
    if (world.rank > 0) MPI_Recv(nullptr, 0, MPI_INT, world.rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  const World world;
  const std::size_t ranks = static_cast<std::size_t>(world.size);
  MPI_Comm all = MPI_COMM_NULL;
};

/// A vector to all ranks, and the sum of all.
struct Sum {
  Memory own;
  Memory result;
  int base = 0;
  MPI_Request request = MPI_REQUEST_NULL;

  Sum(const World& world, int first)
      : own(numbers_on_device(world, elements)), result(numbers_on_device(world, elements)), base(first) {
    write_all(own, base + world.rank);
  }
  int start(MPI_Comm communicator) {
    return MPI_Iallreduce(own.data(), result.data(), count, MPI_INT, MPI_SUM, communicator, &request);
  }
  [[nodiscard]] testing::AssertionResult is_right(const World& world) const {
    return counts_up(result, 0, elements, sum_of_firsts(world, base), world.size);
  }
};

TEST_F(NonblockingCollectives, complete_in_any_order) {
  std::vector<Memory> memories;
  for (int i = 0; i < 10; ++i) {
    memories.push_back(on_device(elements * ranks));
    write_all(memories.back(), i * 1000 + world.rank);
  }
  for (int round = 0; round < 4; ++round) {
    std::array<MPI_Request, 5> requests{};
    MPI_Ibcast(memories[0].data(), count, MPI_INT, world.size - 1, all, &requests[0]);
    MPI_Iallreduce(memories[2].data(), memories[3].data(), count, MPI_INT, MPI_SUM, all, &requests[1]);
    MPI_Ialltoall(memories[4].data(), count, MPI_INT, memories[5].data(), count, MPI_INT, all, &requests[2]);
    MPI_Ireduce(memories[6].data(), memories[7].data(), count, MPI_INT, MPI_MAX, 1, all, &requests[3]);
    MPI_Igather(memories[8].data(), count, MPI_INT, memories[9].data(), count, MPI_INT, 0, all, &requests[4]);
    switch ((world.rank + round) % 4) {
      case 0:
        MPI_Waitall(5, requests.data(), MPI_STATUSES_IGNORE);
        break;
      case 1:
        for (std::size_t i = requests.size(); i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        break;
      case 2:
        for (int flag = 0; flag == 0;) MPI_Testall(5, requests.data(), &flag, MPI_STATUSES_IGNORE);
        break;
      default:
        for (int left = 5; left > 0; --left) {
          int index = MPI_UNDEFINED;
          MPI_Waitany(5, requests.data(), &index, MPI_STATUS_IGNORE);
          EXPECT_NE(index, MPI_UNDEFINED);
        }
    }
    EXPECT_TRUE(counts_up(memories[0], 0, elements, world.size - 1));
    EXPECT_TRUE(counts_up(memories[3], 0, elements, sum_of_firsts(world, 2000), world.size));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(counts_up(memories[5], rank * elements, elements,
                            4000 + static_cast<int>(rank) + world.rank * count));
      if (world.rank == 0) {
        EXPECT_TRUE(counts_up(memories[9], rank * elements, elements, 8000 + static_cast<int>(rank)));
      }
    }
    if (world.rank == 1) {
      EXPECT_TRUE(counts_up(memories[7], 0, elements, 6000 + world.size - 1));
    }
  }
}

TEST_F(NonblockingCollectives, a_rank_may_be_any_number_ahead_of_the_others) {
  std::deque<Sum> sums;
  for (int i = 0; i < 70; ++i) sums.emplace_back(world, i * 100);
  wait_for_rank_before();
  for (Sum& sum : sums) EXPECT_EQ(sum.start(all), MPI_SUCCESS);
  let_next_rank_go();
  for (Sum& sum : sums) EXPECT_EQ(MPI_Wait(&sum.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  for (const Sum& sum : sums) EXPECT_TRUE(sum.is_right(world));
}

TEST_F(NonblockingCollectives, do_not_hold_up_ranks_that_meet_in_a_call_of_the_librarys) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  const auto meet = [&] {
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &made), MPI_SUCCESS);
    MPI_Comm_free(&made);
  };
  for (int round = 0; round < 5; ++round) {
    std::deque<Sum> sums;
    for (int i = 0; i < 20; ++i) sums.emplace_back(world, i * 100 + round);
    const bool comes_first = world.rank % 2 == round % 2;
    if (!comes_first) meet();
    for (Sum& sum : sums) EXPECT_EQ(sum.start(all), MPI_SUCCESS);
    if (comes_first) meet();
    for (Sum& sum : sums) EXPECT_EQ(MPI_Wait(&sum.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (const Sum& sum : sums) EXPECT_TRUE(sum.is_right(world));
  }
  MPI_Group_free(&group);
}

TEST_F(NonblockingCollectives, do_not_hold_up_blocking_ones_of_the_same_communicator) {
  for (int round = 0; round < 5; ++round) {
    Sum sum(world, round);
    Memory broadcast = on_device(elements);
    write_all(broadcast, round + world.rank);
    EXPECT_EQ(sum.start(all), MPI_SUCCESS);
    EXPECT_EQ(MPI_Bcast(broadcast.data(), count, MPI_INT, round % world.size, all), MPI_SUCCESS);
    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Request duplicated = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Comm_idup(all, &duplicate, &duplicated), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&duplicated, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_free(&duplicate), MPI_SUCCESS);
    EXPECT_EQ(MPI_Barrier(all), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&sum.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(counts_up(broadcast, 0, elements, round + round % world.size));
    EXPECT_TRUE(sum.is_right(world));
  }
}

void add_numbers(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

/// Starts a sum of vectors so long that they go in several steps, of which later calls begin the later ones,
/// and waits for it while the GPU is busy. But for the first time: to forget memory of other tests' takes the
/// driver an idle GPU.
template <typename Start>
void expect_sums_beside_work_queued_later(const World& world, Memory& own, const Memory& result,
                                          Start start) {
  for (int round = 0; round < 3; ++round) {
    write_all(own, world.rank + round);
    MPI_Request* const request = start();
    {
      std::optional<BusyGpu> busy;
      if (round > 0) busy.emplace();
      EXPECT_EQ(MPI_Wait(request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    EXPECT_TRUE(counts_up(result, 0, result.size() / sizeof(int), sum_of_firsts(world, round), world.size));
  }
}

constexpr int long_count = 1'000'000;

TEST_F(NonblockingCollectives, end_while_the_gpu_has_work_that_was_queued_after_them) {
  if (world.size > gpu_count()) GTEST_SKIP() << "ranks that share a GPU wait for it";
  Memory own = on_device(long_count);
  const Memory result = on_device(long_count);
  MPI_Request request = MPI_REQUEST_NULL;
  expect_sums_beside_work_queued_later(world, own, result, [&] {
    EXPECT_EQ(MPI_Iallreduce(own.data(), result.data(), long_count, MPI_INT, MPI_SUM, all, &request),
              MPI_SUCCESS);
    return &request;
  });
}

#if PENSTOCK_HAS_MPI_4
TEST_F(NonblockingCollectives, that_are_persistent_end_while_the_gpu_has_work_that_was_queued_after_them) {
  if (world.size > gpu_count()) GTEST_SKIP() << "ranks that share a GPU wait for it";
  Memory own = on_device(long_count);
  const Memory result = on_device(long_count);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Allreduce_init(own.data(), result.data(), long_count, MPI_INT, MPI_SUM, all, MPI_INFO_NULL,
                               &request),
            MPI_SUCCESS);
  expect_sums_beside_work_queued_later(world, own, result, [&] {
    EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
    return &request;
  });
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}
#endif

TEST_F(NonblockingCollectives, need_neither_the_datatypes_nor_the_operations_after_the_call) {
  Sum before(world, 1);
  Sum sum(world, 100);
  Memory strided = on_device(2 * elements);
  write_all(strided, world.rank);
  wait_for_rank_before();
  EXPECT_EQ(before.start(all), MPI_SUCCESS);
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Op adding = MPI_OP_NULL;
  MPI_Op_create(add_numbers, 1, &adding);
  EXPECT_EQ(MPI_Iallreduce(sum.own.data(), sum.result.data(), count, MPI_INT, adding, all, &sum.request),
            MPI_SUCCESS);
  MPI_Request broadcast = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Ibcast(strided.data(), 1, every_second, 0, all, &broadcast), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free(&every_second), MPI_SUCCESS);
  EXPECT_EQ(MPI_Op_free(&adding), MPI_SUCCESS);
  EXPECT_EQ(every_second, MPI_DATATYPE_NULL);
  EXPECT_EQ(adding, MPI_OP_NULL);
  let_next_rank_go();
  std::array requests = {before.request, sum.request, broadcast};
  EXPECT_EQ(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(before.is_right(world));
  EXPECT_TRUE(sum.is_right(world));
  std::vector<int> numbers(2 * elements);
  strided.read(0, numbers.data(), numbers.size() * sizeof(int));
  for (int i = 0; i < 2 * count; ++i)
    ASSERT_EQ(numbers[static_cast<std::size_t>(i)], i + (i % 2 == 0 && i < 2 * count - 1 ? 0 : world.rank));
}

TEST_F(NonblockingCollectives, go_on_when_their_communicator_is_freed) {
  std::deque<Sum> sums;
  for (int i = 0; i < 20; ++i) sums.emplace_back(world, i);
  wait_for_rank_before();
  for (Sum& sum : sums) EXPECT_EQ(sum.start(all), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_free(&all), MPI_SUCCESS);
  let_next_rank_go();
  for (Sum& sum : sums) EXPECT_EQ(MPI_Wait(&sum.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  for (const Sum& sum : sums) EXPECT_TRUE(sum.is_right(world));
}

TEST_F(NonblockingCollectives, may_be_of_host_memory_on_some_ranks_and_of_nothing_on_others) {
  for (int round = 0; round < 6; ++round) {
    const bool is_on_host = (world.rank + round) % 3 == 0;
    Memory send(is_on_host ? MemoryKind::pageable : MemoryKind::device, elements * ranks * sizeof(int),
                world.rank % gpu_count());
    Memory receive = on_device(elements * ranks);
    write_all(send, world.rank);
    // to the first rank only
    std::vector<int> sent(ranks);
    std::vector<int> received(ranks, world.rank == 0 ? count : 0);
    std::vector<int> starts(ranks);
    sent[0] = count;
    for (std::size_t rank = 0; rank < ranks; ++rank) starts[rank] = static_cast<int>(rank) * count;
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Ialltoallv(send.data(), sent.data(), starts.data(), MPI_INT, receive.data(),
                             received.data(), starts.data(), MPI_INT, all, &request),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (world.rank != 0) continue;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      EXPECT_TRUE(counts_up(receive, rank * elements, elements, static_cast<int>(rank)));
  }
}

/// MPI_Iallreduce does not look at its count in MPICH 4.0.
TEST_F(NonblockingCollectives, that_a_rank_has_to_call_again_are_right_then) {
  Memory memory = on_device(elements);
  write_all(memory, world.rank);
  MPI_Request request = MPI_REQUEST_NULL;
  if (world.rank == 1) {
    const int code = MPI_Ibcast(memory.data(), -1, MPI_INT, 0, all, &request);
    EXPECT_EQ(class_of(code), MPI_ERR_COUNT);
  }
  EXPECT_EQ(MPI_Ibcast(memory.data(), count, MPI_INT, 0, all, &request), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(counts_up(memory, 0, elements, 0));
  Sum next(world, 7);
  EXPECT_EQ(next.start(all), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&next.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(next.is_right(world));
}

TEST_F(NonblockingCollectives, whose_blocks_are_too_long_for_their_receivers_are_an_MPI_error) {
  Memory memory = on_device(elements);
  write_all(memory, world.rank);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Ibcast(memory.data(), world.rank == 0 ? count : count / 2, MPI_INT, 0, all, &request);
  const int completed = code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (world.rank != 0) {
    EXPECT_NE(completed, MPI_SUCCESS);
  }
  Sum sum(world, 3);
  EXPECT_EQ(sum.start(all), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&sum.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(sum.is_right(world));
}

TEST_F(NonblockingCollectives, of_no_datatype_are_an_MPI_error_and_none_where_nothing_is_sent) {
  const Memory memory = on_device(elements * ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(class_of(MPI_Bcast(memory.data(), 7, MPI_DATATYPE_NULL, 0, all)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Ibcast(memory.data(), 7, MPI_DATATYPE_NULL, 0, all, &request)), MPI_ERR_TYPE);
#ifndef OPEN_MPI  // which refuses it
  const std::vector<int> nothing(ranks, 0);
  const std::vector<MPI_Datatype> no_types(ranks, MPI_DATATYPE_NULL);
  std::vector<int> numbers(ranks);
  EXPECT_EQ(MPI_Alltoallw(memory.data(), nothing.data(), nothing.data(), no_types.data(), numbers.data(),
                          nothing.data(), nothing.data(), no_types.data(), all),
            MPI_SUCCESS);
#endif
}

/// MPICH says so in the blocking form. Open MPI may wait for ever.
TEST_F(NonblockingCollectives, of_vectors_that_differ_in_length_end_as_those_of_host_memory_do) {
#ifdef OPEN_MPI
  GTEST_SKIP() << "Open MPI's own do not end";
#elif !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 40200000
  GTEST_SKIP() << "MPICH 4.2's own end the job, whatever the program's error handler";
#endif
  if (world.size != 2) GTEST_SKIP() << "for two ranks";
  // in one step the one, in two the other
  const int own_count = world.rank == 0 ? 10'000 : 300'000;
  const Memory own = on_device(300'000);
  const Memory result = on_device(300'000);
  const int code = MPI_Allreduce(own.data(), result.data(), own_count, MPI_INT, MPI_SUM, all);
  if (world.rank == 0) {
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(own.data(), result.data(), own_count, MPI_INT, MPI_SUM, all, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace
}  // namespace penstock::test_support
