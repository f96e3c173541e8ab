// A benchmark of two ranks: rank 0 owns the benchmark framework and decides what is done and how often; rank
// 1 does as it is told by host messages and needs to know nothing in advance. Knows no benchmark.
#pragma once

#include <cuda_runtime.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <type_traits>

namespace penstock::benchmarks {

inline constexpr int leader = 0;
inline constexpr int follower = 1;
inline constexpr int command_tag = 99;

/// A benchmark has nothing better to do with an error than to end the job.
inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// This process's rank, after making rank k use device k (modulo how many there are); -1, after a line, if
/// the job has not two ranks. After MPI_Init.
[[nodiscard]] inline int rank_of_two(const char* program) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    if (rank == leader) std::fprintf(stderr, "%s: runs on 2 ranks\n", program);
    return -1;
  }
  int devices = 0;
  require(cudaGetDeviceCount(&devices), "count the GPUs");
  require(cudaSetDevice(rank % devices), "choose a GPU");
  return rank;
}

/// The first line of what the MPI library says of itself.
[[nodiscard]] inline std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text, std::find(text, text + length, '\n'));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

/// Rank 0: tells rank 1 what both do next. `Work` is plain data.
template <class Work>
void lead(const Work& work) {
  static_assert(std::is_trivially_copyable_v<Work>);
  MPI_Send(&work, sizeof work, MPI_BYTE, follower, command_tag, MPI_COMM_WORLD);
}

/// Rank 1: calls `perform(work)` for what rank 0 leads, until that returns false.
template <class Work, class Perform>
void follow(Perform perform) {
  Work work{};
  do {
    MPI_Recv(&work, sizeof work, MPI_BYTE, leader, command_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } while (perform(work));
}

/// Neither rank goes on before the other has come here; cheaper than a barrier.
inline void meet(int rank) {
  const int other = 1 - rank;
  char mine = 0;
  char theirs = 0;
  MPI_Sendrecv(&mine, 1, MPI_BYTE, other, 1, &theirs, 1, MPI_BYTE, other, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

}  // namespace penstock::benchmarks
