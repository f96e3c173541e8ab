// How long after it is ready the last partition of a message between two GPUs has arrived, in µs, as
// Markdown: medians of partitioned messages, marked by MPI_Pready and by kernels, and of one message for each
// partition.
//   mpiexec.mpich -n 2 penstock run --no-record partitioned_benchmark_mpich [ROUNDS]
// A kernel computes for each partition, one after the other; the ranks' clocks are one.
#include <cuda_runtime_api.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "include/penstock/device.cuh"
#include "interpose/binding/mpi_level.hpp"
#include "tests/benchmarks/overlap_kernel.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/interpose/partitioned/marking_kernels.hpp"
#include "tests/interpose/partitioned/without_mpi_4.hpp"

#if PENSTOCK_HAS_MPI_4

namespace {

constexpr int most_partitions = 64;
constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr long long kernel_ticks = 50'000;  ///< some 30 µs
constexpr int tag = 1;

int own_rank = 0;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "partitioned_benchmark: %s\n", cudaGetErrorString(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

double now_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

enum class Way { pready, kernels, messages };

struct Setup {
  Way way;
  int partitions;
  std::size_t bytes;  ///< of a partition
};

/// Sends all partitions, each after a kernel. Returns when the last was ready.
double send_all(const Setup& setup, char* buffer, std::vector<MPI_Request>& requests,
                penstock_request marks) {
  double ready_us = 0;
  for (int i = 0; i < setup.partitions; ++i) {
    check(penstock::benchmarks::spin(kernel_ticks, nullptr));
    if (setup.way == Way::kernels) check(penstock::test_support::mark_range(marks, i, i));
    check(cudaStreamSynchronize(nullptr));
    ready_us = now_us();
    if (setup.way == Way::pready) MPI_Pready(i, requests.front());
    if (setup.way == Way::messages) {
      MPI_Isend(buffer + static_cast<std::size_t>(i) * setup.bytes, static_cast<int>(setup.bytes), MPI_BYTE,
                1, i, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
    }
  }
  return ready_us;
}

/// Returns how long after the last partition was ready it had arrived, on rank 1; on rank 0 nothing.
std::vector<double> measure(const Setup& setup, char* buffer, int rounds) {
  const int peer = 1 - own_rank;
  const bool is_partitioned = setup.way != Way::messages;
  std::vector<MPI_Request> requests(is_partitioned ? 1 : static_cast<std::size_t>(setup.partitions));
  const auto bytes = static_cast<MPI_Count>(setup.bytes);
  penstock_request marks{};
  if (is_partitioned && own_rank == 0) {
    MPI_Psend_init(buffer, setup.partitions, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                   requests.data());
    if (setup.way == Way::kernels && penstock_kernel_request(requests.front(), &marks) != MPI_SUCCESS) {
      std::fprintf(stderr, "partitioned_benchmark: needs penstock run\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } else if (is_partitioned) {
    MPI_Precv_init(buffer, setup.partitions, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                   requests.data());
  }
  std::vector<double> times;
  for (int round = -3; round < rounds; ++round) {
    if (is_partitioned) MPI_Start(requests.data());
    for (int i = 0; own_rank == 1 && !is_partitioned && i < setup.partitions; ++i) {
      MPI_Irecv(buffer + static_cast<std::size_t>(i) * setup.bytes, static_cast<int>(setup.bytes), MPI_BYTE,
                peer, i, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double moment_us = own_rank == 0 ? send_all(setup, buffer, requests, marks) : 0;
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    if (own_rank == 1) {
      const double arrived_us = now_us();
      MPI_Recv(&moment_us, 1, MPI_DOUBLE, 0, most_partitions, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (round >= 0) times.push_back(arrived_us - moment_us);
    } else {
      MPI_Send(&moment_us, 1, MPI_DOUBLE, 1, most_partitions, MPI_COMM_WORLD);
    }
  }
  if (is_partitioned) MPI_Request_free(requests.data());
  return times;
}

/// The same copy on rank 1 alone, between two GPUs if it sees two.
double measure_raw(std::size_t bytes, int rounds) {
  int devices = 0;
  int device = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaGetDevice(&device));
  const int other = (device + 1) % devices;
  char* from = nullptr;
  char* to = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&to), bytes));
  if (other != device) cudaDeviceEnablePeerAccess(other, 0);
  check(cudaSetDevice(other));
  check(cudaMalloc(reinterpret_cast<void**>(&from), bytes));
  check(cudaSetDevice(device));
  std::vector<double> times;
  for (int round = -3; round < rounds; ++round) {
    const double begin_us = now_us();
    check(cudaMemcpyPeerAsync(to, device, from, other, bytes, nullptr));
    check(cudaStreamSynchronize(nullptr));
    if (round >= 0) times.push_back(now_us() - begin_us);
  }
  check(cudaFree(from));
  check(cudaFree(to));
  return penstock::benchmarks::median(times);
}

void run(int rounds) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(own_rank % devices));
  char* buffer = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&buffer), most_bytes));
  check(cudaMemset(buffer, 0, most_bytes));
  if (own_rank == 1) {
    std::printf(
        "| partitions | bytes of each | MPI_Pready | kernels mark | a message for each | raw copy |\n"
        "|---:|---:|---:|---:|---:|---:|\n");
  }
  for (const auto& [partitions, bytes] : {std::pair<int, std::size_t>{32, 4096},
                                          {32, 65536},
                                          {32, std::size_t{1} << 20},
                                          {64, std::size_t{1} << 20},
                                          {4, std::size_t{16} << 20}}) {
    double medians[3] = {};
    for (const Way way : {Way::pready, Way::kernels, Way::messages}) {
      const std::vector<double> times = measure({way, partitions, bytes}, buffer, rounds);
      if (own_rank == 1) medians[static_cast<int>(way)] = penstock::benchmarks::median(times);
    }
    if (own_rank == 1) {
      std::printf("| %d | %zu | %.1f | %.1f | %.1f | %.1f |\n", partitions, bytes, medians[0], medians[1],
                  medians[2], measure_raw(bytes, rounds));
    }
  }
  check(cudaFree(buffer));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 2) {
    run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 200);
  } else if (own_rank == 0) {
    std::fprintf(stderr, "partitioned_benchmark: needs two ranks\n");
  }
  MPI_Finalize();
  return size == 2 ? 0 : 2;
}

#else

int main(int argc, char** argv) {
  return penstock::test_support::skip_without_mpi_4(argc, argv);
}

#endif
