// One access of a window's target, checked: which memory of the target's it means, where it lies in that, and
// which buffer of this process meets it. Knows neither how bytes move nor what becomes of them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "interpose/windows/window.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// A part of a target's memory, as a call names it.
struct TargetPart {
  int rank = MPI_PROC_NULL;
  MPI_Aint displacement = 0;
  MPI_Count count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

/// The result of the checks.
struct CheckedTarget {
  int code = MPI_SUCCESS;   ///< not raised yet
  bool is_nothing = false;  ///< MPI_PROC_NULL, or no bytes: nothing is to be done
  std::size_t rank = 0;
  std::shared_ptr<MemberMemory> memory;  ///< null if nothing is to be done, or an error is to be raised
  transports::Layout where;              ///< from the memory's base on
};

/// Checks rank, displacement, count, epoch and range. Errors: UnreadableDatatype, std::bad_alloc.
[[nodiscard]] CheckedTarget check_target(Window& window, const TargetPart& part);

/// Returns an MPI code for a buffer that a call describes.
[[nodiscard]] int check_buffer(MPI_Count count, MPI_Datatype datatype) noexcept;

/// Returns the view of a buffer, as handed over by the current call. Notes that a GPU is used, if one is.
[[nodiscard]] transports::BufferView origin_view(const void* buffer, MPI_Count count, MPI_Datatype datatype);

/// Returns the record of a copy that begins now, between a buffer of this process and that memory; an empty
/// one where nothing is recorded.
[[nodiscard]] WindowCopy copy_that_begins(Direction direction, transports::BufferKind origin,
                                          const MemberMemory& memory, std::size_t bytes) noexcept;

}  // namespace penstock::interpose
