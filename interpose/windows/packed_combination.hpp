// Values in host memory, one behind the other, combined by the MPI library. Knows no window.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Thread: one at a time. Errors: the constructor throws UnreadableDatatype and std::bad_alloc.
class PackedCombination {
 public:
  /// `element`: the predefined datatype of all values, which have so many `bytes`.
  PackedCombination(MPI_Op operation, MPI_Datatype element, std::size_t bytes);
  /// into = from ∘ into. Elements with gaps are spread first, as the library wants them.
  [[nodiscard]] Status run(char* from, char* into) const;

 private:
  [[nodiscard]] Status reduce(char* from, char* into) const;

  MPI_Op operation_;
  MPI_Datatype element_;
  MPI_Count count_;
  transports::Layout spaced_;  ///< where the values of elements with gaps lie; empty if there are no gaps
};

}  // namespace penstock::interpose
