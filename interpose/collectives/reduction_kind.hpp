// Which operations on which datatypes the GPU combines by itself: the predefined ones on whole, real and
// complex numbers, truth values and pairs; and of what the standard does not define (MPI_CHAR) what the MPI
// library does in the same way. Others are that library's: long double and what is made of it. Knows no
// collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "transports/reduction/device_reduction.hpp"

namespace penstock::interpose {

struct ReductionKind {
  transports::ElementType type;
  transports::ReductionOperation operation;
  // of pairs with gaps:
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  std::size_t last_gap_bytes = 0;  ///< behind an element
};

/// One of the MPI library's own, which nobody frees.
[[nodiscard]] bool is_predefined(MPI_Op operation) noexcept;

/// None: the MPI library's, be it that it refuses the pair. Cost: some comparisons of handles, and
/// two questions about the datatype; once for a pair that the standard does not define, two small reductions.
[[nodiscard]] std::optional<ReductionKind> reduction_kind(MPI_Datatype datatype, MPI_Op operation) noexcept;

}  // namespace penstock::interpose
