// This header decides which operations on which datatypes the GPU combines: the predefined ones on integers,
// real and complex numbers, truth values and pairs; and, of those that the standard does not define
// (MPI_CHAR), the ones that the MPI library computes alike. The library does all others: long double and
// types made of it. This header knows no collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "transports/reduction/device_reduction.hpp"

namespace penstock::interpose {

struct ReductionKind {
  transports::ElementType type;
  transports::ReductionOperation operation;
  // for pairs with gaps:
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  std::size_t last_gap_bytes = 0;  ///< behind an element
};

/// Returns whether the operation is one of the MPI library's own, which nobody frees.
[[nodiscard]] bool is_predefined(MPI_Op operation) noexcept;

/// Returns none for the MPI library's pairs, including those that it refuses. Cost: some comparisons of
/// handles, and two queries of the datatype; once for a pair that the standard does not define, two small
/// reductions.
[[nodiscard]] std::optional<ReductionKind> reduction_kind(MPI_Datatype datatype, MPI_Op operation) noexcept;

}  // namespace penstock::interpose
