// A window of MPI_Win_allocate of which all members ask for device memory, but one uses no GPU: that one gets
// host memory.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/interpose/windows/device_memory_info.hpp"

namespace penstock::windows {
namespace {

TEST(MemberWithoutGpu, gets_host_memory) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool has_gpu = rank != 0;
  if (has_gpu) cudaFree(nullptr);  // makes a context
  const DeviceMemoryInfo info;
  int* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  // other sizes than multiples of 16 get a wrong address in MPICH 4.0
  ASSERT_EQ(MPI_Win_allocate(64, 4, info.get(), MPI_COMM_WORLD, static_cast<void*>(&base), &window),
            MPI_SUCCESS);
  MPI_Win_fence(0, window);
  const int sent = 5 + rank;
  MPI_Put(&sent, 1, MPI_INT, 1 - rank, 9, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  int found = -1;
  if (has_gpu) {
    cudaPointerAttributes attributes{};
    cudaPointerGetAttributes(&attributes, base);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    cudaMemcpy(&found, base + 9, sizeof found, cudaMemcpyDefault);
  } else {
    found = base[9];
  }
  EXPECT_EQ(found, 6 - rank);
  EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);
}

}  // namespace
}  // namespace penstock::windows
