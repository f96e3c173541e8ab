// A program of two ranks that sends known numbers of messages and bytes between GPU buffers, and takes part
// in known numbers of collectives:
//   known_counts
// job_counts_test.cpp has the numbers.
#include <cuda_runtime.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <thread>

#include "tests/support/exit_code.hpp"

namespace {

int rank = 0;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "known_counts: %s\n", cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void use_gpu() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(rank % devices));
}

int* zeroed(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  check(cudaMemset(memory, 0, bytes));
  check(cudaDeviceSynchronize());
  return static_cast<int*>(memory);
}

template <typename Call>
void times(int count, Call call) {
  for (int i = 0; i < count; ++i) {
    call();
  }
}

/// Two threads, 1,000 messages of 16 bytes each.
void small_messages(int* sent, int* received) {
  std::array<std::thread, 2> threads;
  for (int t = 0; t < 2; ++t) {
    threads[static_cast<std::size_t>(t)] = std::thread([=] {
      use_gpu();
      times(1000, [=] {
        if (rank == 0) {
          MPI_Send(sent + 100 * t, 4, MPI_INT, 1, t, MPI_COMM_WORLD);
        } else {
          MPI_Recv(received + 100 * t, 4, MPI_INT, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
      });
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void larger_messages(int* sent, int* received) {
  const int other = 1 - rank;
  times(30, [=] {
    MPI_Sendrecv(sent, 1000, MPI_INT, other, 0, received, 5000, MPI_INT, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  });
  times(20, [=] {
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(received, 7000, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 300, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  });
  MPI_Datatype pairs = MPI_DATATYPE_NULL;  // 160 bytes of data
  MPI_Type_vector(10, 2, 5, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  times(7, [=] {
    if (rank == 0) {
      MPI_Ssend(sent, 3, pairs, 1, 9, MPI_COMM_WORLD);
    } else {
      MPI_Recv(received, 3, pairs, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  });
  MPI_Type_free(&pairs);
}

void collectives(int* data) {
  times(100, [=] { MPI_Allreduce(MPI_IN_PLACE, data, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD); });
  times(50,
        [=] { MPI_Alltoall(MPI_IN_PLACE, 12345, MPI_DATATYPE_NULL, data, 500, MPI_INT, MPI_COMM_WORLD); });
  times(40, [=] { MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 250, MPI_INT, MPI_COMM_WORLD); });
  times(10, [=] { MPI_Bcast(data, 1000, MPI_INT, 0, MPI_COMM_WORLD); });
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    MPI_Finalize();
    return penstock::test_support::skipped;
  }
  use_gpu();
  int* const sent = zeroed(1 << 20);
  int* const received = zeroed(1 << 20);
  small_messages(sent, received);
  larger_messages(sent, received);
  collectives(sent);
  check(cudaFree(sent));
  check(cudaFree(received));
  MPI_Finalize();
  return 0;
}
