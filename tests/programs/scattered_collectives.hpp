// What the tests of collectives on buffers in several allocations have in common. No call may take as much
// address space as lies between these: GPUs' addresses and those of host memory are tens of TiB apart.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <vector>

#include "tests/programs/scattered_payload.hpp"

namespace penstock::programs {

inline const MPI_Comm world = MPI_COMM_WORLD;
inline constexpr int ranks = 2;

/// Two blocks of any two kinds, in one of the sizes.
inline std::vector<Shape> shapes(const std::vector<std::vector<int>>& sizes = {
                                     {32, 32}, {300, 5}, {20'000, 20'000}, {1, 1}}) {
  std::vector<Shape> all;
  for (const BlockKind& first : block_kinds()) {
    for (const BlockKind& second : block_kinds())
      all.push_back({{first, second}, sizes[all.size() % sizes.size()]});
  }
  return all;
}
inline bool is_on_device(const Shape& shape) {
  return std::ranges::any_of(
      shape.kinds, [](const BlockKind& kind) { return test_support::lives_on_device(kind.memory); });
}

/// What rank `from` contributes, for rank `to` where each gets its own.
inline Bytes part_of(const Shape& shape, int from, int to = 0) {
  return payload(shape.size(), 1000 + static_cast<std::uint64_t>(from * ranks + to));
}
inline Bytes operator+(Bytes one, const Bytes& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}
inline Shape for_each_rank(Shape shape) {
  shape.elements = ranks;
  return shape;
}
/// Waits.
inline void complete(MPI_Request& request) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

class ScatteredCollectives : public testing::Test {
 protected:
  /// Leaves 64 GiB of address space beyond what is mapped once all memory of the tests is there.
  static void SetUpTestSuite() {
    for (int side = 0; side < 4; ++side) {
      for (const BlockKind& kind : block_kinds()) static_cast<void>(Scattered(side, {{kind, kind}, {1, 1}}));
    }
    std::size_t mapped_pages = 0;
    std::ifstream("/proc/self/statm") >> mapped_pages;
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = std::min<rlim_t>(
        limit.rlim_max, mapped_pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (64ull << 30));
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  }
};

}  // namespace penstock::programs
