#include "interpose/datatypes/array_constants.hpp"

#include <mpi.h>

#include <array>
#include <vector>

#include "interpose/datatypes/datatype_contents.hpp"

namespace penstock::interpose {

const ArrayConstants& array_constants() {
  static const ArrayConstants told = [] {
    constexpr int dimensions = 3;
    const std::array<int, dimensions> sizes = {2, 2, 2};
    const std::array<int, dimensions> kinds = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
                                               MPI_DISTRIBUTE_CYCLIC};
    const std::array<int, dimensions> arguments = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                                                   MPI_DISTRIBUTE_DFLT_DARG};
    const std::array<int, dimensions> processes = {1, 1, 1};
    MPI_Datatype array = MPI_DATATYPE_NULL;
    if (PMPI_Type_create_darray(1, 0, dimensions, sizes.data(), kinds.data(), arguments.data(),
                                processes.data(), MPI_ORDER_C, MPI_INT, &array) != MPI_SUCCESS) {
      return ArrayConstants{MPI_ORDER_C, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC,
                            MPI_DISTRIBUTE_DFLT_DARG};
    }
    ArrayConstants found{};
    {
      DatatypeContents contents(array);
      static_cast<void>(contents.next_integers(3));         // processes, rank, dimensions
      static_cast<void>(contents.next_counts(dimensions));  // sizes
      const std::vector<int> told_kinds = contents.next_integers(dimensions);
      found.not_distributed = told_kinds[0];
      found.cyclic = told_kinds[2];
      found.default_argument = contents.next_integers(dimensions)[0];
      static_cast<void>(contents.next_integers(dimensions));  // processes along each
      found.order_c = contents.next_integer();
    }
    PMPI_Type_free(&array);
    return found;
  }();
  return told;
}

}  // namespace penstock::interpose
