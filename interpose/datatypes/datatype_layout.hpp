// Translates an MPI datatype into the byte layout by which the transports copy, and a user's buffer with its
// datatype into a view. This header knows no message.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Returns the layout of `count` elements of `datatype` relative to the buffer's address, in type map order.
/// It covers all constructors of MPI-4 (subarray, darray, struct, resized …). An attribute of the datatype
/// caches the layout of one element. Errors: UnreadableDatatype, std::bad_alloc (as all below). Thread: any.
/// Cost: predefined types none; derived types a lookup.
[[nodiscard]] transports::Layout layout_of(MPI_Datatype datatype, MPI_Count count);

/// Returns true if `count` elements lie in one piece; then `*offset` is where they begin, and `*bytes` their
/// size. Cheap for predefined types.
[[nodiscard]] bool is_contiguous(MPI_Datatype datatype, MPI_Count count, std::ptrdiff_t* offset,
                                 std::size_t* bytes);

/// Returns the view of a user's (buffer, count, datatype). With MPI_BOTTOM and absolute addresses, the
/// buffer is the first byte of the layout. If its bytes lie in several allocations, one of them on a device,
/// the view is scattered.
[[nodiscard]] transports::BufferView view_of(const void* buffer, MPI_Count count, MPI_Datatype datatype);

/// Returns true for arguments that no MPI library takes.
[[nodiscard]] inline bool is_refused(MPI_Count count, MPI_Datatype datatype) noexcept {
  return count < 0 || datatype == MPI_DATATYPE_NULL;
}

/// Returns whether (buffer, datatype) touches device memory; false for arguments that the MPI library
/// refuses, which then gets them. With MPI_BOTTOM and absolute addresses it inspects each piece.
[[nodiscard]] bool touches_device(const void* buffer, MPI_Count count, MPI_Datatype datatype);

}  // namespace penstock::interpose
