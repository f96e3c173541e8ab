// Launches the kernels that copy: one launch makes several copies, each from one layout to another. A copy
// call costs its caller microseconds however few bytes it moves, and the copy engine takes rows of a few
// bytes one by one. Knows neither messages nor how the end of a launch is detected.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/copies/layout_table.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/strided_loops.hpp"

namespace penstock::transports {

/// One side of a copy: where in a message it begins, and how the message lies behind its address.
struct CopySide {
  StridedLoops loops;  ///< depth 0: in one piece
  std::uint32_t begin = 0;

  [[nodiscard]] bool is_contiguous() const noexcept { return loops.depth == 0; }
};

/// One copy. Kernels of the launching context must reach both sides: memory of its device, of a peer that it
/// may access (IPC mappings too), managed, or pinned host memory; never pageable. Any alignment; fastest if
/// both sides agree modulo 16.
struct CopyItem {
  void* to = nullptr;
  const void* from = nullptr;
  std::uint32_t bytes = 0;
  CopySide to_side;
  CopySide from_side;

  [[nodiscard]] bool is_contiguous() const noexcept {
    return to_side.is_contiguous() && from_side.is_contiguous();
  }
};

/// Returns the largest unit, as a power of two, that divides all addresses and numbers of an item.
[[nodiscard]] std::uint32_t unit_shift_of(const CopyItem& item) noexcept;

/// The word in host memory that the last block of a launch sets, and the slot whose counter finds that block.
struct LaunchFlag {
  std::uint32_t* device_word = nullptr;  ///< null: none
  std::uint32_t slot = 0;
};

class CopyKernels {
 public:
  static constexpr std::size_t most_items = 32;

  /// Returns why this process cannot have copy kernels (`declined`: the driver is too old). Loads them on the
  /// first call. Cost: then a millisecond or so, later 2 ns.
  [[nodiscard]] static Status available() noexcept;

  /// Queues at most most_items copies on a stream of the current context, in which the kernels are ready
  /// (else the driver may wait: kernels.hpp). They may run in any order; items of 0 bytes are skipped.
  /// `launched`: at least one kernel was queued, and the flag will be set if there is no error. Errors: as
  /// available(); bad_argument for too many items; the driver's refusal.
  [[nodiscard]] static Status launch(CUstream stream, std::span<const CopyItem> items, const LaunchFlag& flag,
                                     bool& launched) noexcept;
};

/// Copies bytes of a message in an irregular layout into memory in one piece, or back. Kernels of the current
/// context must reach all of it.
struct RunsCopyItem {
  void* laid_out = nullptr;  ///< where the message begins
  void* packed = nullptr;
  std::uint32_t begin = 0;  ///< of the bytes in the message
  std::uint32_t bytes = 0;
  bool gathers = true;
};
/// Queues the copy on a stream of the table's context, which is current. As CopyKernels::launch().
[[nodiscard]] Status launch_runs_copy(CUstream stream, const LayoutTable& table,
                                      const RunsCopyItem& item) noexcept;

/// Copies a CopyItem by the copy engine, row by row, where there are no kernels. As cuMemcpyAsync.
[[nodiscard]] Status copy_by_engine(CUstream stream, const CopyItem& item) noexcept;

}  // namespace penstock::transports
