// The numbers by which the MPI library tells how subarrays and distributed arrays were made
// (MPI_Type_get_contents). Knows no layout.
#pragma once

namespace penstock::interpose {

struct ArrayConstants {
  int order_c;           ///< MPI_ORDER_C
  int not_distributed;   ///< MPI_DISTRIBUTE_NONE
  int cyclic;            ///< MPI_DISTRIBUTE_CYCLIC
  int default_argument;  ///< MPI_DISTRIBUTE_DFLT_DARG
};

/// Returns what the library tells of an array that was made with mpi.h's constants: under the standard ABI
/// Open MPI (6.0.0rc2) tells its own numbers. Thread: any. Errors: UnreadableDatatype, std::bad_alloc. Cost:
/// once, a datatype.
[[nodiscard]] const ArrayConstants& array_constants();

}  // namespace penstock::interpose
