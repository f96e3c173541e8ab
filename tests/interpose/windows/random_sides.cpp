#include "tests/interpose/windows/random_sides.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

#include "tests/interpose/windows/device_memory_info.hpp"
#include "tests/support/random.hpp"

namespace penstock::windows {
namespace {

using test_support::Memory;
using test_support::Random;

constexpr std::size_t bytes_behind = 64;

void move_elsewhere(WindowSide& side) {
  std::vector<std::byte> content(side.memory.size());
  side.memory.read(0, content.data(), content.size());
  const MemoryKind kind = side.memory.kind();
  const int device = side.memory.device();
  side.memory = Memory();  // freed first
  side.memory = Memory(kind, content.size(), device);
  side.memory.write(0, content.data(), content.size());
  side.base = side.memory.data();
}

void detach_all(WindowSide& side) {
  for (std::byte* const region : side.attached) MPI_Win_detach(side.window, region);
  side.attached.clear();
}

/// Attaches the memory in regions that end anywhere in a cell.
void attach_cells(WindowSide& side, std::size_t cells, std::size_t cell_bytes, Random& random) {
  std::size_t bytes = cells * cell_bytes;
  while (bytes > 0) {
    const std::size_t together = std::min(bytes, 1 + random.below(6 * cell_bytes));
    bytes -= together;  // the last first
    std::byte* const region = side.base + bytes;
    MPI_Win_attach(side.window, region, static_cast<MPI_Aint>(together));
    side.attached.push_back(region);
  }
}

/// Makes it by MPI_Win_allocate, of device memory for those whose kind that is.
void allocate_window(WindowSide& made, const WindowShape& shape, std::size_t bytes, std::size_t own,
                     int device) {
  const DeviceMemoryInfo info;
  const bool asks = shape.kinds[own] == MemoryKind::device;
  cudaSetDevice(device);
  MPI_Win_allocate(static_cast<MPI_Aint>(bytes), shape.units[own], asks ? info.get() : MPI_INFO_NULL,
                   MPI_COMM_WORLD, static_cast<void*>(&made.base), &made.window);
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, made.base);
  const bool is_on_device = attributes.type == cudaMemoryTypeDevice;
  if (is_on_device != asks && bytes != 0) {
    std::printf("FAILED: MPI_Win_allocate gives memory of another kind than it is asked for\n");
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const MemoryKind kind = is_on_device ? MemoryKind::device : MemoryKind::pageable;
  made.memory = Memory::borrowed(made.base, kind, bytes, device);
}

/// Open MPI 4.1 makes no windows of given host memory over some transports, but allocates them.
void make_window(WindowSide& made, const WindowShape& shape, std::size_t bytes, int rank, bool is_host,
                 int device) {
  const auto own = static_cast<std::size_t>(rank);
  if (is_host) {
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes), shape.units[own], MPI_INFO_NULL, MPI_COMM_WORLD,
                     static_cast<void*>(&made.base), &made.window);
    return;
  }
  if (shape.is_allocated) {
    allocate_window(made, shape, bytes, own, device);
    return;
  }
  made.memory = Memory(shape.kinds[own], bytes + bytes_behind, device);
  made.base = made.memory.data();
  if (shape.is_dynamic) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made.window);
    made.bases.resize(shape.cells.size());
  } else {
    MPI_Win_create(bytes == 0 ? nullptr : made.base, static_cast<MPI_Aint>(bytes), shape.units[own],
                   MPI_INFO_NULL, MPI_COMM_WORLD, &made.window);
  }
}

}  // namespace

std::size_t own_bytes(const Program& program, std::size_t window, int rank) {
  return program.windows[window].cells[static_cast<std::size_t>(rank)] * program.cell_bytes;
}

Side make_side(const Program& program, int rank, bool is_host) {
  Side side;
  const int gpus = test_support::gpu_count();
  const int device = rank % std::max(gpus, 1);
  for (const MemoryKind kind : arena_kinds)
    side.arenas.emplace_back(is_host ? MemoryKind::pageable : kind, program.arena_bytes, device);
  for (std::size_t i = 0; i < program.windows.size(); ++i)
    make_window(side.windows.emplace_back(), program.windows[i], own_bytes(program, i, rank), rank, is_host,
                device);
  return side;
}

void attach_anew(Side& side, const Program& program, int rank, std::uint64_t seed) {
  Random random(seed + static_cast<std::uint64_t>(rank));
  for (std::size_t i = 0; i < side.windows.size(); ++i) {
    WindowSide& window = side.windows[i];
    if (window.bases.empty()) continue;
    if (random.chance(50) || window.attached.empty()) {
      detach_all(window);
      if (random.chance(50)) move_elsewhere(window);
      attach_cells(window, program.windows[i].cells[static_cast<std::size_t>(rank)], program.cell_bytes,
                   random);
    }
    MPI_Aint base = 0;
    MPI_Get_address(window.base, &base);
    MPI_Allgather(&base, 1, MPI_AINT, window.bases.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  }
}

}  // namespace penstock::windows
