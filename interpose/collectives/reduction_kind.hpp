// Which operations on which datatypes the GPU combines by itself: the predefined ones on whole and on real
// numbers. Others are the MPI library's. Knows no collective.
#pragma once

#include <mpi.h>

#include <optional>

#include "transports/reduction/device_reduction.hpp"

namespace penstock::interpose {

struct ReductionKind {
  transports::ElementType type;
  transports::ReductionOperation operation;
};

/// None: the MPI library's, be it that it refuses the pair. Cost: some comparisons of handles.
[[nodiscard]] std::optional<ReductionKind> reduction_kind(MPI_Datatype datatype, MPI_Op operation) noexcept;

}  // namespace penstock::interpose
