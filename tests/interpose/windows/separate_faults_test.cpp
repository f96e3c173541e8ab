// A window of device memory between nodes for which one member gets no public copy: the call fails there, and
// does not keep the others waiting.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/support/faulty_driver/faulty_driver.hpp"

namespace penstock::windows {
namespace {

TEST(SeparateFaults, of_one_member_are_its_error_alone) {
  constexpr std::size_t bytes = 4096;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  void* memory = nullptr;
  cudaMalloc(&memory, bytes);
  MPI_Win window = MPI_WIN_NULL;
  if (rank == 1) faulty_driver_fail("cuMemcpyAsync:719");
  const int code = MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (rank == 1) faulty_driver_fail("");
  EXPECT_EQ(code == MPI_SUCCESS, rank != 1);
  EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);  // of all members
  cudaFree(memory);
}

}  // namespace
}  // namespace penstock::windows
