// How far the bytes of elements reach on either side of the address that they are given with. Knows MPI only.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>

namespace penstock::test_support {

struct ElementSpan {
  std::size_t before;  ///< bytes below the address
  std::size_t after;   ///< bytes from the address on
};

/// `count`: at least 1.
inline ElementSpan span_of(MPI_Datatype datatype, int count) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Aint first = 0;
  MPI_Aint span = 0;
  MPI_Type_get_extent(datatype, &lower_bound, &extent);
  MPI_Type_get_true_extent(datatype, &first, &span);
  const MPI_Aint to_the_last = extent * (count - 1);
  const MPI_Aint begin = first + std::min<MPI_Aint>(to_the_last, 0);
  const MPI_Aint end = first + span + std::max<MPI_Aint>(to_the_last, 0);
  return {.before = static_cast<std::size_t>(std::max<MPI_Aint>(0, -begin)),
          .after = static_cast<std::size_t>(std::max<MPI_Aint>(0, end))};
}

}  // namespace penstock::test_support
