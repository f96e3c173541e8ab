// The wrappers of the collectives, generated from the table: every row of theirs must have a description.
#include "interpose/collectives_of_all.hpp"
#include "interpose/collectives_reducing.hpp"
#include "interpose/collectives_rooted.hpp"

namespace penstock::interpose {

PENSTOCK_DESCRIBE_ONE(Barrier, barrier)  // has no count that could be large
PENSTOCK_DESCRIBE_ONE(Ibarrier, barrier)
PENSTOCK_DESCRIBE(Bcast, Ibcast, bcast)
PENSTOCK_DESCRIBE(Gather, Igather, gather)
PENSTOCK_DESCRIBE(Gatherv, Igatherv, gatherv)
PENSTOCK_DESCRIBE(Scatter, Iscatter, scatter)
PENSTOCK_DESCRIBE(Scatterv, Iscatterv, scatterv)
PENSTOCK_DESCRIBE(Reduce, Ireduce, reduce)
PENSTOCK_DESCRIBE(Allgather, Iallgather, allgather)
PENSTOCK_DESCRIBE(Allgatherv, Iallgatherv, allgatherv)
PENSTOCK_DESCRIBE(Alltoall, Ialltoall, alltoall)
PENSTOCK_DESCRIBE(Alltoallv, Ialltoallv, alltoallv)
PENSTOCK_DESCRIBE(Alltoallw, Ialltoallw, alltoallw)
PENSTOCK_DESCRIBE(Allreduce, Iallreduce, reduce_to_all)
PENSTOCK_DESCRIBE(Scan, Iscan, reduce_to_all)
PENSTOCK_DESCRIBE(Exscan, Iexscan, exscan)
PENSTOCK_DESCRIBE(Reduce_scatter, Ireduce_scatter, reduce_scatter)
PENSTOCK_DESCRIBE(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter_block)

}  // namespace penstock::interpose

#define PENSTOCK_EXPAND_collectives(name, result, parameters, arguments) \
  PENSTOCK_EXPORT_COLLECTIVE(name, parameters, arguments)

// the owners of all other rows
#define PENSTOCK_EXPAND_pass(...)
#define PENSTOCK_EXPAND_pcontrol(...)
#define PENSTOCK_EXPAND_left_out(...)
#define PENSTOCK_EXPAND_lifecycle(...)
#define PENSTOCK_EXPAND_point_to_point(...)
#define PENSTOCK_EXPAND_probing(...)
#define PENSTOCK_EXPAND_persistent(...)
#define PENSTOCK_EXPAND_completion(...)
#define PENSTOCK_EXPAND_communicators(...)
#define PENSTOCK_EXPAND_staged_calls(...)

#define PENSTOCK_ROW(owner, waits, name, result, parameters, arguments) \
  PENSTOCK_EXPAND_##owner(name, result, parameters, arguments)
#include "interpose/mpi_functions.def"
