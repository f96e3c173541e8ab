// Translates an MPI datatype into the byte layout that the transports copy by. Knows MPI_Type_get_envelope /
// get_contents; knows no GPU.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Layout of `count` elements of `datatype` relative to the buffer's address, in type map order. All
/// constructors of MPI-4 (subarray, darray, struct, resized …). Layouts of one element are cached as an
/// attribute of the datatype. Errors: UnreadableDatatype, std::bad_alloc (as all below).
/// Thread: any. Cost: predefined types none; derived types a lookup.
[[nodiscard]] transports::Layout layout_of(MPI_Datatype datatype, MPI_Count count);

/// True if `count` elements lie in one piece (then `*offset` is where they begin, `*bytes` how many).
/// Cheap for predefined types.
[[nodiscard]] bool is_contiguous(MPI_Datatype datatype, MPI_Count count, std::ptrdiff_t* offset,
                                 std::size_t* bytes);

/// The place of a user's (buffer, count, datatype). Handles MPI_BOTTOM with absolute addresses: the buffer is
/// then the first byte of the layout. Where bytes of it lie in several allocations, one of them on a device,
/// the place is scattered.
[[nodiscard]] transports::Place place_of(const void* buffer, MPI_Count count, MPI_Datatype datatype);

/// Does (buffer, datatype) touch device memory? Of MPI_BOTTOM and absolute types each piece is looked at.
[[nodiscard]] bool touches_device(const void* buffer, MPI_Count count, MPI_Datatype datatype);

}  // namespace penstock::interpose
