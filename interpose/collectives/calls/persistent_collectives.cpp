// The wrappers of the calls that initialise persistent collectives, generated from the table: each of their
// rows must have a description.
#include "interpose/binding/mpi_level.hpp"

#if PENSTOCK_HAS_MPI_4
#include "interpose/collectives/calls/collectives_of_all.hpp"
#include "interpose/collectives/calls/collectives_of_neighbours.hpp"
#include "interpose/collectives/calls/collectives_reducing.hpp"
#include "interpose/collectives/calls/collectives_rooted.hpp"
#include "interpose/collectives/calls/persistent_call.hpp"

namespace penstock::interpose {

PENSTOCK_DESCRIBE_ONE(Barrier_init, barrier)  // it has no count that could be large
PENSTOCK_DESCRIBE(Bcast_init, bcast)
PENSTOCK_DESCRIBE(Gather_init, gather)
PENSTOCK_DESCRIBE(Gatherv_init, gatherv)
PENSTOCK_DESCRIBE(Scatter_init, scatter)
PENSTOCK_DESCRIBE(Scatterv_init, scatterv)
PENSTOCK_DESCRIBE(Reduce_init, reduce)
PENSTOCK_DESCRIBE(Allgather_init, allgather)
PENSTOCK_DESCRIBE(Allgatherv_init, allgatherv)
PENSTOCK_DESCRIBE(Alltoall_init, alltoall)
PENSTOCK_DESCRIBE(Alltoallv_init, alltoallv)
PENSTOCK_DESCRIBE(Alltoallw_init, alltoallw)
PENSTOCK_DESCRIBE(Allreduce_init, allreduce)
PENSTOCK_DESCRIBE(Scan_init, scan)
PENSTOCK_DESCRIBE(Exscan_init, exscan)
PENSTOCK_DESCRIBE(Reduce_scatter_init, reduce_scatter)
PENSTOCK_DESCRIBE(Reduce_scatter_block_init, reduce_scatter_block)
PENSTOCK_DESCRIBE(Neighbor_allgather_init, neighbor_allgather)
PENSTOCK_DESCRIBE(Neighbor_allgatherv_init, neighbor_allgatherv)
PENSTOCK_DESCRIBE(Neighbor_alltoall_init, neighbor_alltoall)
PENSTOCK_DESCRIBE(Neighbor_alltoallv_init, neighbor_alltoallv)
PENSTOCK_DESCRIBE(Neighbor_alltoallw_init, neighbor_alltoallw)

}  // namespace penstock::interpose

#define PENSTOCK_EXPAND_persistent_collectives(name, result, parameters, arguments) \
  PENSTOCK_EXPORT_CALL(PersistentCall, description<Function::name>, name, parameters, arguments)
#include "interpose/binding/rows_of_owners.def"
#endif
