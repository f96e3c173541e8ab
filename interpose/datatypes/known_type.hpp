// The elements of MPI's predefined datatypes, as far as the GPU's kernels know them. This header knows no
// operation.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "transports/reduction/device_reduction.hpp"

namespace penstock::interpose {

/// The operations that the standard defines on a datatype, among those that its elements support.
enum class Allowed : std::uint8_t { everything, not_logical, logical, bitwise, nothing };

struct KnownType {
  MPI_Datatype datatype;
  transports::ElementType type;
  Allowed allowed = Allowed::everything;
};

/// Returns null for derived datatypes and those that no kernel knows. Owned by the process. Cost: some
/// comparisons of handles.
[[nodiscard]] const KnownType* known_type(MPI_Datatype datatype) noexcept;

}  // namespace penstock::interpose
