// The wrappers of the calls that free datatypes and operations, which a deferred call may still need.
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/collectives/deferred/kept_handles.hpp"

using namespace penstock::interpose;

PENSTOCK_EXPORT int MPI_Type_free(MPI_Datatype* datatype) try {
  const CallScope scope(Function::Type_free, __builtin_return_address(0));
  if (scope.stands_aside() || !free_datatype_later(*datatype)) return PMPI_Type_free(datatype);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Op_free(MPI_Op* operation) try {
  const CallScope scope(Function::Op_free, __builtin_return_address(0));
  if (scope.stands_aside() || !free_operation_later(*operation)) return PMPI_Op_free(operation);
  *operation = MPI_OP_NULL;
  return MPI_SUCCESS;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)
