// A program of any number of ranks that takes numbered steps, of which each is an NVTX range and has known
// messages and one collective:
//   windowed STEPS MESSAGES FIRST LAST [WAIT_FOR]
// Calls cudaProfilerStart before step FIRST, and cudaProfilerStop behind step LAST (from 1 on). If WAIT_FOR
// is given, rank 0 then waits for a message of that tag that nobody sends, and the others in MPI_Barrier.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "tests/support/exit_code.hpp"

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("windowed STEPS MESSAGES FIRST LAST [WAIT_FOR]\n", stderr);
    return 2;
  }
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::puts("SKIPPED: no GPU");
    MPI_Finalize();
    return penstock::test_support::skipped;
  }
  void* memory = nullptr;
  constexpr std::size_t bytes = 1 << 16;
  if (cudaSetDevice(rank % gpus) != cudaSuccess || cudaMalloc(&memory, bytes) != cudaSuccess) return 1;
  const int steps = std::atoi(argv[1]);
  const int messages = std::atoi(argv[2]);
  const int next = (rank + 1) % ranks;
  const int last = (rank + ranks - 1) % ranks;
  for (int step = 1; step <= steps; ++step) {
    if (step == std::atoi(argv[3])) cudaProfilerStart();
    nvtxRangePushA("step");
    cudaMemset(memory, step, bytes);
    for (int i = 0; i < messages; ++i) {
      std::array<double, 2> words{};
      std::array<MPI_Request, 2> requests{};
      MPI_Irecv(&words[0], 1, MPI_DOUBLE, last, 7, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(&words[1], 1, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    }
    int sum = 0;
    MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    nvtxRangePop();
    if (step == std::atoi(argv[4])) cudaProfilerStop();
  }
  if (argc > 5 && rank == 0) {
    double word = 0;
    MPI_Recv(&word, 1, MPI_DOUBLE, last, std::atoi(argv[5]), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (argc > 5) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  cudaFree(memory);
  MPI_Finalize();
  return 0;
}
