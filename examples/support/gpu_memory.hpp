// Whether the ranks' GPUs have room for what they are about to allocate. Asked for at once, before any does:
// an allocation that fails in the middle says less.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "examples/support/gpu.hpp"

namespace example {

/// What is wrong, the same on all ranks, or nothing. Ranks that share a GPU share its memory. Collective.
[[nodiscard]] inline std::string memory_complaint(std::int64_t needed_bytes, MPI_Comm communicator) {
  struct Demand {
    std::int64_t needed_bytes;
    std::int64_t free_bytes;
    std::int64_t total_bytes;
    cudaUUID_t gpu;
  };
  static_assert(sizeof(Demand) == 40, "no padding: it is sent as bytes");
  int device = 0;
  check(cudaGetDevice(&device), "ask for the GPU");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "ask for the GPU's name");
  check(cudaFree(nullptr), "start the GPU");
  MPI_Barrier(communicator);  // all have started theirs, which takes memory too
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "ask for free GPU memory");
  const Demand own{needed_bytes, static_cast<std::int64_t>(free_bytes),
                   static_cast<std::int64_t>(total_bytes), properties.uuid};
  int rank_count = 1;
  MPI_Comm_size(communicator, &rank_count);
  std::vector<Demand> demands(static_cast<std::size_t>(rank_count));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, demands.data(), sizeof own, MPI_BYTE, communicator);

  for (std::size_t rank = 0; rank < demands.size(); ++rank) {
    std::int64_t needed = 0;
    int sharing = 0;
    for (const Demand& demand : demands) {
      if (std::memcmp(&demand.gpu, &demands[rank].gpu, sizeof demand.gpu) == 0) {
        needed += demand.needed_bytes;
        ++sharing;
      }
    }
    if (needed > demands[rank].free_bytes) {
      constexpr double gib = 1024.0 * 1024.0 * 1024.0;
      char text[256];
      std::snprintf(text, sizeof text,
                    "the GPU of rank %zu has too little memory: %d rank(s) on it need %.2f GiB, "
                    "and %.2f of %.2f GiB are free",
                    rank, sharing, static_cast<double>(needed) / gib,
                    static_cast<double>(demands[rank].free_bytes) / gib,
                    static_cast<double>(demands[rank].total_bytes) / gib);
      return text;
    }
  }
  return {};
}

}  // namespace example
