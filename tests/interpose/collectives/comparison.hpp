// Runs one MPI call on host buffers and again on buffers of other kinds, and compares every byte of both
// buffers: what was received, the gaps between the elements, what was sent, and the guards around. Knows no
// single MPI call.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/support/memory.hpp"

namespace penstock::test_support {

/// MPI_COMM_WORLD, as each rank sees it.
struct World {
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0;
  int size = 0;
  MPI_Comm communicator = MPI_COMM_WORLD;
};

/// Bytes that a call may look at around the address it is given.
struct Extent {
  std::size_t before = 0;
  std::size_t after = 0;
};

/// Calls MPI with these addresses and returns its code. `send` may be ignored.
using Exchange = std::function<int(const void* send, void* receive)>;

/// Returns what buffers are filled with.
[[nodiscard]] std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed);

/// After that many calls of expect_same_as_on_host() all placements of buffers have been there.
inline constexpr int placement_count = 5;

/// Both buffers begin `guard_bytes` after their memory does. `seed` must differ between calls, to see stale
/// bytes.
void expect_same_as_on_host(Extent send, Extent receive, const Exchange& exchange);

/// The first failure of any rank fails them all, so that a test never goes on alone.
[[nodiscard]] bool any_rank_failed();

}  // namespace penstock::test_support
