// MPI libraries carry out some reductions that the standard does not define, such as those of MPI_CHAR. This
// header tests whether the GPU's kernels give the same results, as no manual documents whether a character
// has a sign. It knows no collective.
#pragma once

#include <mpi.h>

#include "transports/reduction/device_reduction.hpp"

namespace penstock::interpose {

struct LibraryReduction {
  MPI_Datatype datatype;
  MPI_Op operation;
};
struct KernelReduction {
  transports::ElementType type;
  transports::ReductionOperation operation;
};

/// Returns whether the library accepts `reduction`, which is predefined, and gives the results of `kernel` on
/// numbers that show signs and overflows. False also if the elements are not integers. Calls no error handler
/// of the program's, and waits for no rank. Ranks with different results still agree, as one with `false`
/// votes for the library. Thread: any. Cost: the first time two small reductions within this rank; then a
/// lock and a search.
[[nodiscard]] bool library_combines_alike(const LibraryReduction& reduction,
                                          const KernelReduction& kernel) noexcept;

}  // namespace penstock::interpose
