// Persistent collectives on device buffers: several under way, started and completed by every call that does
// so, freed early, and beside other traffic. What each function delivers is compared in collectives_test.cpp.
#include <array>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/numbers.hpp"
#include "tests/support/memory.hpp"

#if PENSTOCK_HAS_MPI_4
namespace penstock::test_support {
namespace {

class PersistentCollectives : public testing::Test {
 protected:
  const World world;
  const std::size_t ranks = static_cast<std::size_t>(world.size);
  [[nodiscard]] Memory on_device(std::size_t numbers) const { return numbers_on_device(world, numbers); }
  [[nodiscard]] int sum_of_first(int base) const { return sum_of_firsts(world, base); }
};

TEST_F(PersistentCollectives, send_what_the_buffer_holds_at_each_start) {
  Memory send = on_device(elements);
  Memory receive = on_device(elements);
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Allreduce_init(send.data(), receive.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                               MPI_INFO_NULL, &request),
            MPI_SUCCESS);
  for (int round = 0; round < 5; ++round) {
    write_all(send, round * 10 + world.rank);
    EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
    MPI_Status status{};
    EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    EXPECT_NE(request, MPI_REQUEST_NULL);
    EXPECT_TRUE(counts_up(receive, 0, elements, sum_of_first(round * 10), world.size));
  }
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
}

TEST_F(PersistentCollectives, several_are_under_way_and_complete_in_any_order) {
  constexpr std::size_t operations = 5;
  std::vector<Memory> memories;
  for (std::size_t i = 0; i < 2 * operations; ++i) memories.push_back(on_device(elements * ranks));
  std::array<MPI_Request, operations> requests{};
  const MPI_Comm all = MPI_COMM_WORLD;
  MPI_Bcast_init(memories[0].data(), count, MPI_INT, world.size - 1, all, MPI_INFO_NULL, &requests[0]);
  MPI_Allreduce_init(memories[2].data(), memories[3].data(), count, MPI_INT, MPI_SUM, all, MPI_INFO_NULL,
                     &requests[1]);
  MPI_Alltoall_init(memories[4].data(), count, MPI_INT, memories[5].data(), count, MPI_INT, all,
                    MPI_INFO_NULL, &requests[2]);
  MPI_Allreduce_init(MPI_IN_PLACE, memories[7].data(), count, MPI_INT, MPI_MAX, all, MPI_INFO_NULL,
                     &requests[3]);
  MPI_Scan_init(memories[8].data(), memories[9].data(), count, MPI_INT, MPI_SUM, all, MPI_INFO_NULL,
                &requests[4]);
  for (int round = 0; round < 6; ++round) {
    for (std::size_t i = 0; i < memories.size(); ++i)
      write_all(memories[i], static_cast<int>(i) * 1000 + round * 100 + world.rank);
    EXPECT_EQ(MPI_Startall(operations, requests.data()), MPI_SUCCESS);
    // each rank waits in another way, and in each round in another one
    switch ((world.rank + round) % 6) {
      case 0:
        EXPECT_EQ(MPI_Waitall(operations, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
        break;
      case 1:
        for (std::size_t i = operations; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        break;
      case 2:
        for (std::size_t left = operations; left > 0; --left) {
          int index = MPI_UNDEFINED;
          MPI_Waitany(operations, requests.data(), &index, MPI_STATUS_IGNORE);
          EXPECT_NE(index, MPI_UNDEFINED);
        }
        break;
      case 3:
        for (int left = operations; left > 0;) {
          int done = 0;
          std::array<int, operations> indices{};
          MPI_Waitsome(operations, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
          ASSERT_NE(done, MPI_UNDEFINED);
          left -= done;
        }
        break;
      case 4:
        for (int flag = 0; flag == 0;) MPI_Testall(operations, requests.data(), &flag, MPI_STATUSES_IGNORE);
        break;
      default:
        for (MPI_Request& request : requests) {
          int flag = 0;
          while (flag == 0) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
          EXPECT_EQ(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
          EXPECT_NE(flag, 0);
        }
    }
    const int base = round * 100;
    EXPECT_TRUE(counts_up(memories[0], 0, elements, base + world.size - 1));
    EXPECT_TRUE(counts_up(memories[3], 0, elements, sum_of_first(2000 + base), world.size));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(counts_up(memories[5], rank * elements, elements,
                            4000 + base + static_cast<int>(rank) + world.rank * count));
    }
    EXPECT_TRUE(counts_up(memories[7], 0, elements, 7000 + base + world.size - 1));
    const int below = world.rank + 1;
    EXPECT_TRUE(counts_up(memories[9], 0, elements, below * (8000 + base) + below * (below - 1) / 2, below));
    // all are inactive: nothing is waited for
    int index = 0;
    MPI_Waitany(operations, requests.data(), &index, MPI_STATUS_IGNORE);
    EXPECT_EQ(index, MPI_UNDEFINED);
  }
  for (MPI_Request& request : requests) EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}

TEST_F(PersistentCollectives, may_be_started_in_another_order_on_each_rank) {
  std::array<MPI_Request, 3> requests{};
  std::vector<Memory> memories;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    memories.push_back(on_device(elements * ranks));
    MPI_Allgather_init(MPI_IN_PLACE, 0, MPI_INT, memories[i].data(), count, MPI_INT, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &requests[i]);
  }
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < requests.size(); ++i)
      write_all(memories[i], static_cast<int>(i) * 1000 + world.rank);
    for (std::size_t i = 0; i < requests.size(); ++i)
      MPI_Start(&requests[(i + static_cast<std::size_t>(world.rank + round)) % requests.size()]);
    MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        EXPECT_TRUE(counts_up(memories[i], rank * elements, elements,
                              static_cast<int>(i) * 1000 + static_cast<int>(rank) * (1 + count)));
      }
    }
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

TEST_F(PersistentCollectives, work_where_only_some_ranks_have_device_buffers) {
  const MemoryKind kind = world.rank == 0 ? MemoryKind::device : MemoryKind::pageable;
  Memory memory(kind, elements * sizeof(int), world.rank % gpu_count());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Bcast_init(memory.data(), count, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 3; ++round) {
    write_all(memory, world.rank + round);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_TRUE(counts_up(memory, 0, elements, round));
  }
  MPI_Request_free(&request);
}

/// Which all outlive their handles in the request.
TEST_F(PersistentCollectives, keep_the_datatype_and_the_communicator) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, -world.rank, &half);
  int size = 0;
  int rank = 0;
  MPI_Comm_size(half, &size);
  MPI_Comm_rank(half, &rank);
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  MPI_Type_vector(count / 2, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  Memory memory = on_device(elements);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Bcast_init(memory.data(), 1, pairs, 0, half, MPI_INFO_NULL, &request);
  MPI_Type_free(&pairs);
  MPI_Comm_free(&half);
  for (int round = 0; round < 3; ++round) {
    write_all(memory, rank == 0 ? round : -1'000'000);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    std::array<int, 4> numbers{};
    memory.read(0, numbers.data(), sizeof numbers);
    const int between = rank == 0 ? round : -1'000'000;
    EXPECT_EQ(numbers, (std::array{round, between + 1, round + 2, between + 3}));
  }
  MPI_Request_free(&request);
}

TEST_F(PersistentCollectives, go_on_beside_messages_and_blocking_collectives) {
  Memory reduced = on_device(elements);
  Memory result = on_device(elements);
  Memory gathered = on_device(elements * ranks);
  Memory sent = on_device(elements);
  Memory received = on_device(elements);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(reduced.data(), result.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
  const int next = (world.rank + 1) % world.size;
  const int previous = (world.rank + world.size - 1) % world.size;
  for (int round = 0; round < 4; ++round) {
    write_all(reduced, round + world.rank);
    write_all(gathered, round * 7 + world.rank);
    write_all(sent, 500 + world.rank);
    MPI_Start(&request);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, gathered.data(), count, MPI_INT, MPI_COMM_WORLD);
    MPI_Sendrecv(sent.data(), count, MPI_INT, next, 0, received.data(), count, MPI_INT, previous, MPI_ANY_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_TRUE(counts_up(result, 0, elements, sum_of_first(round), world.size));
    EXPECT_TRUE(counts_up(received, 0, elements, 500 + previous));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(
          counts_up(gathered, rank * elements, elements, round * 7 + static_cast<int>(rank) * (1 + count)));
    }
  }
  MPI_Request_free(&request);
}

TEST_F(PersistentCollectives, return_the_librarys_error_and_may_be_called_again) {
  Memory memory = on_device(elements);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(class_of(MPI_Bcast_init(memory.data(), -1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request)),
            MPI_ERR_COUNT);
  EXPECT_EQ(
      class_of(MPI_Bcast_init(memory.data(), count, MPI_INT, 1000, MPI_COMM_WORLD, MPI_INFO_NULL, &request)),
      MPI_ERR_ROOT);
  ASSERT_EQ(MPI_Bcast_init(memory.data(), count, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
            MPI_SUCCESS);
  MPI_Start(&request);
  EXPECT_EQ(class_of(MPI_Start(&request)), MPI_ERR_REQUEST);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}

TEST_F(PersistentCollectives, never_started_are_freed) {
  for (int round = 0; round < 100; ++round) {
    Memory memory = on_device(elements);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Allreduce_init(MPI_IN_PLACE, memory.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  }
}

}  // namespace
}  // namespace penstock::test_support
#endif
