// The predefined datatype of which a datatype is made, as accumulates need it. This header knows no
// operation.
#pragma once

#include <mpi.h>

namespace penstock::interpose {

/// Returns the one predefined datatype of all elements (the datatype itself, if it is predefined);
/// MPI_DATATYPE_NULL if there are several, or none. Errors: UnreadableDatatype, std::bad_alloc. Cost: for
/// derived types, a query of each constructor.
[[nodiscard]] MPI_Datatype basic_type_of(MPI_Datatype datatype);

}  // namespace penstock::interpose
