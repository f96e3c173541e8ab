// Reductions that the standard does not define, such as of MPI_CHAR, which MPI libraries carry out all the
// same: whether the GPU's kernels do them alike. The library is asked, as its manual does not say whether a
// character has a sign. Knows no collective.
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

/// Whether the library accepts the first, which is predefined, and its results on numbers that tell signs and
/// overflows apart are those of the second. False also if the elements are no whole numbers. No error handler
/// of the program's hears of it. It waits for no rank; ranks that got different answers would still agree, as
/// one that gets `false` wants the library's call. Thread: any. Cost: the first time two small reductions
/// within this rank; then a lock and a look.
[[nodiscard]] bool library_combines_alike(const LibraryReduction& reduction,
                                          const KernelReduction& kernel) noexcept;

}  // namespace penstock::interpose
