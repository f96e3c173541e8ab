// A window of MPI_Win_allocate in device memory over host memory of a library that gives what was used
// before.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "tests/interpose/windows/device_memory_info.hpp"

namespace penstock::windows {
namespace {

TEST(UsedMemory, holds_what_the_program_stores_be_it_zero) {
  constexpr int count = 1000;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaFree(nullptr);  // makes a context
  const DeviceMemoryInfo info;
  double* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  ASSERT_EQ(MPI_Win_allocate(count * sizeof(double), sizeof(double), info.get(), MPI_COMM_WORLD,
                             static_cast<void*>(&base), &window),
            MPI_SUCCESS);
  cudaMemset(base, 0, count * sizeof(double));
  MPI_Win_fence(0, window);
  const double one = 1;
  MPI_Accumulate(&one, 1, MPI_DOUBLE, 1 - rank, 3, 1, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  std::vector<double> found(count, -1);
  cudaMemcpy(found.data(), base, count * sizeof(double), cudaMemcpyDefault);
  std::vector<double> expected(count);
  expected[3] = 1;
  EXPECT_EQ(found, expected);
  EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);
}

}  // namespace
}  // namespace penstock::windows
