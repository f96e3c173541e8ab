// Partitions that kernels of rank 0 mark ready, by penstock/device.cuh, for rank 1.
#include <gtest/gtest.h>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/partitioned/marking_kernels.hpp"

#if PENSTOCK_HAS_MPI_4

#include <cstdlib>
#include <numeric>
#include <vector>

#include "tests/interpose/partitioned/partitioned_types.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {
namespace {

constexpr int tag = 7;
constexpr int partitions = 6;
constexpr int ints = 1000;  ///< of a partition

class KernelMarks : public testing::Test {
 protected:
  KernelMarks() { MPI_Comm_rank(MPI_COMM_WORLD, &rank); }
  ~KernelMarks() override {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void init(Memory& memory, MPI_Datatype type = MPI_INT, int count = ints) {
    if (rank == 0)
      MPI_Psend_init(memory.data(), partitions, count, type, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (rank == 1)
      MPI_Precv_init(memory.data(), partitions, count, type, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  [[nodiscard]] static std::vector<int> content(const Memory& memory, int partition) {
    std::vector<int> found(ints);
    memory.read(static_cast<std::size_t>(partition) * ints * sizeof(int), found.data(), ints * sizeof(int));
    return found;
  }
  [[nodiscard]] static std::vector<int> expected(int partition, int first) {
    std::vector<int> numbers(ints);
    std::iota(numbers.begin(), numbers.end(), first + partition * ints);
    return numbers;
  }
  static void wait_for_arrival(MPI_Request request, int partition) {
    for (int flag = 0; flag == 0;) ASSERT_EQ(MPI_Parrived(request, partition, &flag), MPI_SUCCESS);
  }

  int rank = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

TEST_F(KernelMarks, arrive_while_the_kernel_runs_that_waits_for_what_the_receiver_does_with_them) {
  Memory memory(MemoryKind::device, partitions * ints * sizeof(int));
  init(memory);
  for (int round = 1; round <= 5; ++round) {
    const int first = round * 100000;
    if (rank == 0) {
      penstock_request marks{};
      ASSERT_EQ(penstock_kernel_request(request, &marks), MPI_SUCCESS);
      EXPECT_EQ(marks.partitions, partitions);
      Memory go_on(MemoryKind::pinned, sizeof(unsigned));
      auto* const word = reinterpret_cast<unsigned*>(go_on.data());
      *word = 0;
      ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
      ASSERT_EQ(write_and_mark(reinterpret_cast<int*>(memory.data()), ints, marks, first, 2, word),
                cudaSuccess);
      // the receiver sends this once it has what the kernel has marked so far
      MPI_Recv(nullptr, 0, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
      __atomic_store_n(word, 1u, __ATOMIC_RELEASE);
      EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      cudaDeviceSynchronize();
    } else if (rank == 1) {
      ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
      wait_for_arrival(request, 5);
      wait_for_arrival(request, 4);
      int flag = 1;
      EXPECT_EQ(MPI_Parrived(request, 0, &flag), MPI_SUCCESS);
      EXPECT_EQ(flag, 0);
      EXPECT_EQ(content(memory, 5), expected(5, first));
      EXPECT_EQ(content(memory, 4), expected(4, first));
      MPI_Send(nullptr, 0, MPI_INT, 0, tag, MPI_COMM_WORLD);
      EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      for (int partition = 0; partition < partitions; ++partition)
        EXPECT_EQ(content(memory, partition), expected(partition, first));
    }
  }
}

/// A rank has room for few notes on messages, so that of one which the MPI library carries gives way. The
/// message, whose words its kernels still mark, must not touch that of the other.
TEST_F(KernelMarks, of_a_message_that_the_library_carries_leave_others_alone) {
  Memory on_device(MemoryKind::device, partitions * ints * sizeof(int));
  Memory on_host(MemoryKind::pageable, partitions * ints * sizeof(int));
  init(rank == 0 ? on_device : on_host);  // the library's, as the receiver has host memory
  penstock_request marks{};
  if (rank == 0) {
    ASSERT_EQ(penstock_kernel_request(request, &marks), MPI_SUCCESS);
  }
  const auto run = [&](const auto& start) {
    if (rank > 1) return;
    start();
    if (rank == 0) {
      ASSERT_EQ(MPI_Pready_range(0, partitions - 1, request), MPI_SUCCESS);
    }
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  };
  run([&] { MPI_Start(&request); });
  Memory memory(MemoryKind::device, 64);
  Memory beside(MemoryKind::pageable, 64);
  for (int i = 0; i < 80; ++i) {
    MPI_Request direct = MPI_REQUEST_NULL;
    if (rank == 0)
      MPI_Psend_init(memory.data(), 1, 16, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_INFO_NULL, &direct);
    if (rank == 1)
      MPI_Precv_init(memory.data(), 1, 16, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_INFO_NULL, &direct);
    MPI_Barrier(MPI_COMM_WORLD);
    // the receiver, which comes first, decides that it copies
    if (rank == 1) MPI_Start(&direct);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Start(&direct);
      MPI_Pready(0, direct);
    }
    MPI_Wait(&direct, MPI_STATUS_IGNORE);
    if (rank == 0) MPI_Start(&direct);
    run([&] { MPI_Start(&request); });
    const std::vector<int> numbers(16, i);
    if (rank == 0) {
      memory.write(0, numbers.data(), 64);
      MPI_Pready(0, direct);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Start(&direct);
    MPI_Wait(&direct, MPI_STATUS_IGNORE);
    std::vector<int> found(16);
    memory.read(0, found.data(), 64);
    if (rank < 2) {
      EXPECT_EQ(found, numbers);
    }
    if (direct != MPI_REQUEST_NULL) MPI_Request_free(&direct);
    // takes the note that this one leaves, so that the next takes another
    MPI_Request last = MPI_REQUEST_NULL;
    if (rank == 0)
      MPI_Psend_init(beside.data(), 1, 16, MPI_INT, 1, 1000, MPI_COMM_WORLD, MPI_INFO_NULL, &last);
    if (rank == 1)
      MPI_Precv_init(beside.data(), 1, 16, MPI_INT, 0, 1000, MPI_COMM_WORLD, MPI_INFO_NULL, &last);
    if (last != MPI_REQUEST_NULL) MPI_Request_free(&last);
  }
}

TEST_F(KernelMarks, count_beside_those_of_MPI_Pready) {
  Memory memory(MemoryKind::device, partitions * ints * sizeof(int));
  init(memory);
  penstock_request marks{};
  if (rank == 0) {
    ASSERT_EQ(penstock_kernel_request(request, &marks), MPI_SUCCESS);
  }
  for (int round = 1; round <= 20 && rank < 2; ++round) {
    std::vector<int> all(static_cast<std::size_t>(partitions) * ints);
    std::iota(all.begin(), all.end(), round);
    if (rank == 0) memory.write(0, all.data(), memory.size());
    ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
    if (rank == 0) {
      ASSERT_EQ(mark_range(marks, 1, 3), cudaSuccess);
      EXPECT_EQ(MPI_Pready(0, request), MPI_SUCCESS);
      EXPECT_EQ(MPI_Pready_range(4, 5, request), MPI_SUCCESS);
    }
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    std::vector<int> found(all.size());
    memory.read(0, found.data(), memory.size());
    EXPECT_EQ(found, all) << "round " << round;
  }
}

TEST_F(KernelMarks, of_partitions_with_gaps_travel_once_the_kernel_has_ended) {
  const PartitionTypes types;
  const PartitionType type = types.all()[1];
  constexpr int count = 50;
  Memory memory(MemoryKind::device, partitions * count * type.extent);
  init(memory, type.handle, count);
  penstock_request marks{};
  if (rank == 0) {
    ASSERT_EQ(penstock_kernel_request(request, &marks), MPI_SUCCESS);
  }
  for (int round = 1; round <= 5 && rank < 2; ++round) {
    std::vector<unsigned char> bytes(memory.size(), static_cast<unsigned char>(rank == 0 ? round : 0));
    memory.write(0, bytes.data(), bytes.size());
    ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
    if (rank == 0) {
      ASSERT_EQ(mark_range(marks, 0, partitions - 1), cudaSuccess);
    }
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    memory.read(0, bytes.data(), bytes.size());
    EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), 0),
              rank == 0 ? round * static_cast<int>(bytes.size())
                        : round * partitions * count * type.ints * static_cast<int>(sizeof(int)));
  }
}

TEST_F(KernelMarks, are_refused_where_they_would_not_be_seen) {
  Memory memory(MemoryKind::device, partitions * ints * sizeof(int));
  Memory host(MemoryKind::pageable, memory.size());
  init(memory);
  penstock_request marks{};
  if (rank == 1) {
    EXPECT_EQ(penstock_kernel_request(request, &marks), MPI_ERR_OTHER);
  }
  EXPECT_EQ(penstock_kernel_request(MPI_REQUEST_NULL, &marks), MPI_ERR_OTHER);
  EXPECT_EQ(marks.ready, nullptr);
  if (rank == 0) {
    MPI_Request in_host_memory = MPI_REQUEST_NULL;
    MPI_Psend_init(host.data(), 1, ints, MPI_INT, 1, tag + 1, MPI_COMM_WORLD, MPI_INFO_NULL, &in_host_memory);
    EXPECT_EQ(penstock_kernel_request(in_host_memory, &marks), MPI_ERR_OTHER);
    MPI_Request_free(&in_host_memory);
    MPI_Start(&request);
    EXPECT_EQ(penstock_kernel_request(request, &marks), MPI_ERR_OTHER) << "it is active";
    penstock_pready(marks, 0);  // harmless
    MPI_Pready_range(0, partitions - 1, request);
  } else if (rank == 1) {
    MPI_Request in_host_memory = MPI_REQUEST_NULL;
    MPI_Precv_init(host.data(), 1, ints, MPI_INT, 0, tag + 1, MPI_COMM_WORLD, MPI_INFO_NULL, &in_host_memory);
    MPI_Request_free(&in_host_memory);
    MPI_Start(&request);
  }
  if (rank < 2) {
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
}

}  // namespace
}  // namespace penstock::test_support

#else

TEST(KernelMarks, need_MPI_4) {
  GTEST_SKIP() << "this MPI has no partitioned communication";
}

#endif
