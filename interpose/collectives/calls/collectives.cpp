// The wrappers of the collectives, generated from the table: each of their rows must have a description.
#include "interpose/collectives/calls/collectives_of_all.hpp"
#include "interpose/collectives/calls/collectives_of_neighbours.hpp"
#include "interpose/collectives/calls/collectives_reducing.hpp"
#include "interpose/collectives/calls/collectives_rooted.hpp"

namespace penstock::interpose {

/// A collective and its non-blocking form.
#define PENSTOCK_DESCRIBE_BOTH(Name, Iname, how) PENSTOCK_DESCRIBE(Name, how) PENSTOCK_DESCRIBE(Iname, how)

PENSTOCK_DESCRIBE_ONE(Barrier, barrier)  // it has no count that could be large
PENSTOCK_DESCRIBE_ONE(Ibarrier, barrier)
PENSTOCK_DESCRIBE_BOTH(Bcast, Ibcast, bcast)
PENSTOCK_DESCRIBE_BOTH(Gather, Igather, gather)
PENSTOCK_DESCRIBE_BOTH(Gatherv, Igatherv, gatherv)
PENSTOCK_DESCRIBE_BOTH(Scatter, Iscatter, scatter)
PENSTOCK_DESCRIBE_BOTH(Scatterv, Iscatterv, scatterv)
PENSTOCK_DESCRIBE_BOTH(Reduce, Ireduce, reduce)
PENSTOCK_DESCRIBE_BOTH(Allgather, Iallgather, allgather)
PENSTOCK_DESCRIBE_BOTH(Allgatherv, Iallgatherv, allgatherv)
PENSTOCK_DESCRIBE_BOTH(Alltoall, Ialltoall, alltoall)
PENSTOCK_DESCRIBE_BOTH(Alltoallv, Ialltoallv, alltoallv)
PENSTOCK_DESCRIBE_BOTH(Alltoallw, Ialltoallw, alltoallw)
PENSTOCK_DESCRIBE_BOTH(Allreduce, Iallreduce, allreduce)
PENSTOCK_DESCRIBE_BOTH(Scan, Iscan, scan)
PENSTOCK_DESCRIBE_BOTH(Exscan, Iexscan, exscan)
PENSTOCK_DESCRIBE_BOTH(Reduce_scatter, Ireduce_scatter, reduce_scatter)
PENSTOCK_DESCRIBE_BOTH(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter_block)
PENSTOCK_DESCRIBE_BOTH(Neighbor_allgather, Ineighbor_allgather, neighbor_allgather)
PENSTOCK_DESCRIBE_BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, neighbor_allgatherv)
PENSTOCK_DESCRIBE_BOTH(Neighbor_alltoall, Ineighbor_alltoall, neighbor_alltoall)
PENSTOCK_DESCRIBE_BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, neighbor_alltoallv)
PENSTOCK_DESCRIBE_BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, neighbor_alltoallw)

}  // namespace penstock::interpose

#define PENSTOCK_EXPAND_collectives(name, result, parameters, arguments) \
  PENSTOCK_EXPORT_CALL(CollectiveCall, description<Function::name>, name, parameters, arguments)
#include "interpose/binding/rows_of_owners.def"
