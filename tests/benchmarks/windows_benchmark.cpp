// How long one-sided operations on device memory take between two ranks: medians in µs, by size, as Markdown.
//   mpiexec.mpich -n 2 penstock run --no-record windows_benchmark_mpich [ROUNDS]
// Each rank exposes memory of a GPU: that of its number, among those that it sees. Rank 0 measures, in an
// epoch of MPI_Win_lock_all, but for the fences. The raw copy beside it is cudaMemcpyPeerAsync to another
// GPU, if rank 0 sees one, and a synchronisation.
#include <cuda_runtime_api.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/benchmarks/sampling.hpp"

namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;

template <typename Operation>
double median_us(int rounds, Operation operation) {
  std::vector<double> times;
  const int to_warm = rounds / 10 + 3;  // the first ones map memory
  for (int i = 0; i < to_warm + rounds; ++i) {
    const double seconds = penstock::benchmarks::seconds_of(operation);
    if (i >= to_warm) times.push_back(seconds * 1e6);
  }
  return penstock::benchmarks::median(times);
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "windows_benchmark: %s\n", cudaGetErrorString(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct Buffers {
  char* window = nullptr;
  char* own = nullptr;
  char* result = nullptr;
  char* elsewhere = nullptr;  ///< on another GPU, if there is one
  int device = 0;
  int other_device = 0;
  cudaStream_t stream = nullptr;
  explicit Buffers(int rank) {
    int devices = 0;
    check(cudaGetDeviceCount(&devices));
    device = rank % devices;
    other_device = (rank + 1) % devices;
    check(cudaSetDevice(other_device));
    check(cudaMalloc(reinterpret_cast<void**>(&elsewhere), most_bytes));
    check(cudaSetDevice(device));
    if (device != other_device) {
      cudaDeviceEnablePeerAccess(other_device,
                                 0);  // it may be enabled; without it the raw copy goes through the host
      cudaGetLastError();
    }
    check(cudaMalloc(reinterpret_cast<void**>(&window), most_bytes));
    check(cudaMalloc(reinterpret_cast<void**>(&own), most_bytes));
    check(cudaMalloc(reinterpret_cast<void**>(&result), most_bytes));
    check(cudaMemset(window, 0, most_bytes));
    check(cudaMemset(own, 0, most_bytes));
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudaDeviceSynchronize());
  }
};

void measure_passive(const Buffers& buffers, MPI_Win window, int rounds) {
  constexpr int target = 1;
  std::printf(
      "| bytes | put, flush | get, flush | put, flush from host memory | raw copy "
      "|\n|---:|---:|---:|---:|---:|\n");
  std::vector<char> host(most_bytes);
  for (std::size_t bytes = 8; bytes <= most_bytes; bytes *= bytes < 4096 ? 8 : 4) {
    const int count = static_cast<int>(bytes);
    const int some = bytes >= (1u << 24) ? std::max(rounds / 20, 10) : rounds;
    const double put = median_us(some, [&] {
      MPI_Put(buffers.own, count, MPI_BYTE, target, 0, count, MPI_BYTE, window);
      MPI_Win_flush(target, window);
    });
    const double get = median_us(some, [&] {
      MPI_Get(buffers.own, count, MPI_BYTE, target, 0, count, MPI_BYTE, window);
      MPI_Win_flush(target, window);
    });
    const double from_host = median_us(some, [&] {
      MPI_Put(host.data(), count, MPI_BYTE, target, 0, count, MPI_BYTE, window);
      MPI_Win_flush(target, window);
    });
    const double raw = median_us(some, [&] {
      check(cudaMemcpyPeerAsync(buffers.elsewhere, buffers.other_device, buffers.own, buffers.device, bytes,
                                buffers.stream));
      check(cudaStreamSynchronize(buffers.stream));
    });
    std::printf("| %zu | %.2f | %.2f | %.2f | %.2f |\n", bytes, put, get, from_host, raw);
  }
}

/// Puts or gets of 4 KiB to and from places `apart` bytes from each other: 4 KiB means neighbours, which can
/// be joined to one copy.
constexpr int small_bytes = 4096;
void put_several(char* from, int puts, int apart, int target, MPI_Win window) {
  for (int i = 0; i < puts; ++i)
    MPI_Put(from + i * apart, small_bytes, MPI_BYTE, target, i * apart, small_bytes, MPI_BYTE, window);
}
void get_several(char* to, int gets, int apart, int target, MPI_Win window) {
  for (int i = 0; i < gets; ++i)
    MPI_Get(to + i * apart, small_bytes, MPI_BYTE, target, i * apart, small_bytes, MPI_BYTE, window);
}

void measure_operations(const Buffers& buffers, MPI_Win window, int rounds) {
  constexpr int target = 1;
  std::printf("\n| operation | us |\n|---|---:|\n");
  std::vector<char> host(64 * 3 * small_bytes);
  for (const int apart : {small_bytes, 3 * small_bytes}) {
    const char* const where = apart == small_bytes ? "side by side" : "apart";
    std::printf("| 64 puts of 4 KiB %s, one flush | %.2f |\n", where, median_us(rounds, [&] {
                  put_several(buffers.own, 64, apart, target, window);
                  MPI_Win_flush(target, window);
                }));
    std::printf("| 64 puts of 4 KiB %s from host memory, one flush | %.2f |\n", where, median_us(rounds, [&] {
                  put_several(host.data(), 64, apart, target, window);
                  MPI_Win_flush(target, window);
                }));
    std::printf("| 64 gets of 4 KiB %s, one flush | %.2f |\n", where, median_us(rounds, [&] {
                  get_several(buffers.own, 64, apart, target, window);
                  MPI_Win_flush(target, window);
                }));
  }
  std::printf("| MPI_Fetch_and_op, flush | %.2f |\n", median_us(rounds, [&] {
                MPI_Fetch_and_op(buffers.own, buffers.result, MPI_INT, target, 0, MPI_SUM, window);
                MPI_Win_flush(target, window);
              }));
  std::printf("| MPI_Compare_and_swap, flush | %.2f |\n", median_us(rounds, [&] {
                MPI_Compare_and_swap(buffers.own, buffers.own + 8, buffers.result, MPI_INT, target, 0,
                                     window);
                MPI_Win_flush(target, window);
              }));
  int one = 1;
  int other = 0;
  int result = 0;
  std::printf("| MPI_Fetch_and_op of host memory, flush | %.2f |\n", median_us(rounds, [&] {
                MPI_Fetch_and_op(&one, &result, MPI_INT, target, 0, MPI_SUM, window);
                MPI_Win_flush(target, window);
              }));
  std::printf("| MPI_Compare_and_swap of host memory, flush | %.2f |\n", median_us(rounds, [&] {
                MPI_Compare_and_swap(&one, &other, &result, MPI_INT, target, 0, window);
                MPI_Win_flush(target, window);
              }));
  std::printf("| MPI_Accumulate of 8 doubles, flush | %.2f |\n", median_us(rounds, [&] {
                MPI_Accumulate(buffers.own, 8, MPI_DOUBLE, target, 0, 8, MPI_DOUBLE, MPI_SUM, window);
                MPI_Win_flush(target, window);
              }));
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{64} << 20}) {
    const int count = static_cast<int>(bytes / sizeof(float));
    const auto accumulated = [&](int to) {
      return median_us(rounds / 10, [&] {
        MPI_Accumulate(buffers.own, count, MPI_FLOAT, to, 0, count, MPI_FLOAT, MPI_SUM, window);
        MPI_Win_flush(to, window);
      });
    };
    const double put = median_us(rounds / 10, [&] {
      MPI_Put(buffers.own, 4 * count, MPI_BYTE, target, 0, 4 * count, MPI_BYTE, window);
      MPI_Win_flush(target, window);
    });
    const double there = accumulated(target);
    const double local = accumulated(0);
    std::printf("| MPI_Accumulate of %zu MiB of floats, flush | %.2f |\n", bytes >> 20, there);
    std::printf("| … put, flush, and MPI_Accumulate into the rank's own memory | %.2f |\n", put + local);
    std::printf("| … how many times as long (asked: 1.3) | %.2f |\n", there / (put + local));
  }
}

/// Between nodes a fence copies and compares the whole memory of its rank; elsewhere it takes the same for
/// all.
void measure_sizes(const Buffers& buffers, int rank, int rounds) {
  if (rank == 0) std::printf("\n| bytes of the window | MPI_Win_fence, empty |\n|---:|---:|\n");
  for (std::size_t bytes = std::size_t{64} << 10; bytes <= most_bytes; bytes *= 16) {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(buffers.window, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    const double empty = median_us(rounds / 10, [&] { MPI_Win_fence(0, window); });
    if (rank == 0) std::printf("| %zu | %.2f |\n", bytes, empty);
    MPI_Win_free(&window);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::max(20, std::atoi(argv[1])) : 500;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) std::fprintf(stderr, "windows_benchmark: needs two ranks\n");
    MPI_Finalize();
    return 2;
  }
  const Buffers buffers(rank);
  MPI_Win window = MPI_WIN_NULL;
  if (MPI_Win_create(buffers.window, static_cast<MPI_Aint>(most_bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &window) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) {
    MPI_Win_lock_all(0, window);
    measure_passive(buffers, window, rounds);
    measure_operations(buffers, window, rounds);
    MPI_Win_unlock_all(window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_fence(0, window);
  const double empty = median_us(rounds, [&] { MPI_Win_fence(0, window); });
  if (rank == 0) std::printf("| MPI_Win_fence, empty | %.2f |\n", empty);
  for (const int apart : {small_bytes, 3 * small_bytes}) {
    const double halos = median_us(rounds, [&] {
      put_several(buffers.own, 26, apart, 1 - rank, window);
      MPI_Win_fence(0, window);
    });
    if (rank != 0) continue;
    std::printf("| … with 26 puts of 4 KiB %s from each rank | %.2f |\n",
                apart == small_bytes ? "side by side" : "apart", halos);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  MPI_Win_free(&window);
  measure_sizes(buffers, rank, rounds);
  MPI_Finalize();
  return 0;
}
