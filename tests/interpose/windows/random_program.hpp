// What random one-sided programs consist of: windows, epochs and operations. Knows neither memory nor how
// they are run.
//
// What makes results defined: a window is cut into cells. In each epoch a cell has one role: one origin puts
// into it, whole or in pieces; anybody gets from it; all accumulate into it by one operation that is exact in
// any order; or one origin does to it what it likes by accumulates, which MPI keeps in order.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/memory.hpp"

namespace penstock::windows {

using test_support::MemoryKind;

inline constexpr std::array arena_kinds = {MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned,
                                           MemoryKind::managed};

/// A predefined type with operations that are exact in any order on the numbers used here.
struct Basic {
  MPI_Datatype type;
  std::size_t bytes;
  std::vector<MPI_Op> operations;
  bool is_integer;
};
[[nodiscard]] const std::vector<Basic>& basics();

/// How elements lie: `count` of `type`, which spans at most a cell.
struct Shape {
  enum class Kind { plain, vector, indexed } kind = Kind::plain;
  int elements = 1;
  int block = 1;
  int stride = 1;
  std::vector<int> places;  ///< of blocks
};

enum class Call { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };
/// The call that follows an operation, where the epoch allows it.
enum class Flush { none, target, all, target_local, all_local };

struct Operation {
  int origin = 0;
  int target = 0;
  std::size_t window = 0;
  std::size_t cell = 0;
  std::size_t part = 0;  ///< bytes from the beginning of the cell, and of the first place of the arena, on
  Call call = Call::put;
  std::size_t basic = 0;
  std::size_t operation = 0;  ///< of the basic's; beyond: MPI_REPLACE, MPI_NO_OP
  Shape origin_shape;
  Shape target_shape;
  std::size_t arena = 0;
  std::size_t place = 0;   ///< operations with the same one share it
  std::size_t offset = 0;  ///< of three places of a cell each
  bool has_request = false;
  Flush flush = Flush::none;
  bool is_waited_for_late = false;

  [[nodiscard]] MPI_Op mpi_operation() const;
};

/// The synchronisation: `lock` locks one target after the other, `locks` all at once.
enum class Sync { fence, lock, locks, lock_all, group };
[[nodiscard]] inline bool can_be_flushed(Sync sync) {
  return sync == Sync::lock || sync == Sync::locks || sync == Sync::lock_all;
}
struct Epoch {
  Sync sync = Sync::fence;
  std::vector<Operation> operations;
  std::vector<int> lock_kinds;  ///< of each origin and target
  std::uint64_t local_seed = 0;
  std::uint64_t attaching_seed = 0;
};
/// Of each rank.
struct WindowShape {
  bool is_allocated = false;  ///< by MPI_Win_allocate
  bool is_dynamic = false;    ///< of all: the cells are attached, and again before some epochs
  std::vector<std::size_t> cells;
  std::vector<MemoryKind> kinds;
  std::vector<int> units;
};
struct Program {
  bool is_separate = false;  ///< as Makers
  std::size_t cell_bytes = 256;
  std::size_t arena_bytes = 0;
  std::vector<WindowShape> windows;
  std::vector<Epoch> epochs;
};

/// What a job's windows may be.
struct Makers {
  bool library = true;    ///< it makes windows of host memory
  bool separate = false;  ///< it makes all windows, those of device memory over public copies
};
[[nodiscard]] Program draw_program(std::uint64_t seed, int ranks, const Makers& makers);

}  // namespace penstock::windows
