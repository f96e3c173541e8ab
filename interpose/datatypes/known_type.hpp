// What the elements of MPI's predefined datatypes are, where the GPU's kernels know such elements. Knows no
// operation.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "transports/reduction/device_reduction.hpp"

namespace penstock::interpose {

/// What the standard defines of what the elements of a datatype can.
enum class Allowed : std::uint8_t { everything, not_logical, logical, bitwise, nothing };

struct KnownType {
  MPI_Datatype datatype;
  transports::ElementType type;
  Allowed allowed = Allowed::everything;
};

/// Null for derived datatypes and those that no kernel knows. Owned by the process. Cost: some comparisons of
/// handles.
[[nodiscard]] const KnownType* known_type(MPI_Datatype datatype) noexcept;

}  // namespace penstock::interpose
