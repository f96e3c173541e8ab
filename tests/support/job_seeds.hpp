// Which seeds a random program of several ranks runs: its arguments say so. Knows MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/support/seed_of_today.hpp"

namespace penstock::test_support {

struct JobSeeds {
  std::uint64_t first = 1;
  std::uint64_t count = 20;
  [[nodiscard]] std::uint64_t end() const noexcept { return first + count; }
};

/// Reads `--first SEED` (or `date`) and `--seeds COUNT`, and says which they are. The same on all ranks, also
/// around midnight. Collective over MPI_COMM_WORLD.
[[nodiscard]] inline JobSeeds seeds_of_job(int argc, char** argv) {
  JobSeeds seeds;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string_view value = argv[i + 1];
    if (name == "--first")
      seeds.first = value == "date" ? first_seed_of_today() : std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seeds") seeds.count = std::strtoull(argv[i + 1], nullptr, 10);
  }
  MPI_Bcast(&seeds.first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("%llu seeds from %llu on\n", static_cast<unsigned long long>(seeds.count),
                static_cast<unsigned long long>(seeds.first));
  return seeds;
}

}  // namespace penstock::test_support
