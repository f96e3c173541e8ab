// MPI_Pack and MPI_Unpack between buffers of one GPU, which needs no stand-ins: a copy between the elements
// and their packed bytes. Knows the MPI library's packed form, and no single call.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Returns whether the MPI library's packed form is that of messages here: the bytes one behind the other, in
/// the order of the type map, and nothing else. MPICH and Open MPI pack so where all ranks have one
/// representation.
[[nodiscard]] bool library_packs_plainly();

struct Elements {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
};
/// MPI's packing buffer, as the caller has it: not written for MPI_Unpack.
struct PackingBuffer {
  const void* buffer;
  MPI_Count size;
  MPI_Count position;
};
enum class Packing { pack, unpack };

struct PackedCopy {
  Status status;
  std::size_t bytes;  ///< by which the position moves on
  transports::BufferKind elements_kind;
};

/// Carries out the call if both buffers are memory of one GPU's context. Nothing: the MPI library must do it,
/// also as the arguments are in error or it packs in another form. Errors: std::bad_alloc.
[[nodiscard]] std::optional<PackedCopy> pack_on_device(Packing packing, const Elements& elements,
                                                       const PackingBuffer& packed);

}  // namespace penstock::interpose
