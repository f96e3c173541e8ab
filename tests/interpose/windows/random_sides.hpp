// The windows and buffers on which a random one-sided program runs: memory of all kinds, or the host's alone.
// Knows no operation.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/interpose/windows/random_program.hpp"
#include "tests/support/memory.hpp"

namespace penstock::windows {

struct WindowSide {
  test_support::Memory memory;  ///< not for the window of host memory, which the library allocates
  std::byte* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  std::vector<MPI_Aint> bases;       ///< of a dynamic window: each rank's
  std::vector<std::byte*> attached;  ///< the regions of this rank
};
/// One of the two: windows and origins' arenas.
struct Side {
  std::vector<test_support::Memory> arenas;
  std::vector<WindowSide> windows;
};

[[nodiscard]] std::size_t own_bytes(const Program& program, std::size_t window, int rank);
/// To be called by all ranks.
[[nodiscard]] Side make_side(const Program& program, int rank, bool is_host);
/// On this rank: detaches what is attached to the dynamic windows, moves some of it to other memory, mostly
/// at the same address, and attaches it in other pieces. To be called by all ranks, between epochs.
void attach_anew(Side& side, const Program& program, int rank, std::uint64_t seed);

}  // namespace penstock::windows
