// The wrappers of the calls that make, set and get error handlers of communicators: after the first, errors
// may do something else than end the job, and one of Penstock's may be set for a while.
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/quiet_errors.hpp"

using namespace penstock::interpose;

PENSTOCK_EXPORT int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  const CallScope scope(Function::Comm_set_errhandler, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Comm_set_errhandler(comm, errhandler);
  return set_error_handler(comm, errhandler, PMPI_Comm_set_errhandler);
}

PENSTOCK_EXPORT int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  const CallScope scope(Function::Comm_get_errhandler, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Comm_get_errhandler(comm, errhandler);
  return get_error_handler(comm, errhandler, PMPI_Comm_get_errhandler);
}

PENSTOCK_EXPORT int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function,
                                               MPI_Errhandler* errhandler) {
  const CallScope scope(Function::Comm_create_errhandler, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Comm_create_errhandler(function, errhandler);
  return make_error_handler(function, errhandler, PMPI_Comm_create_errhandler);
}

#if PENSTOCK_HAS_REMOVED_FUNCTIONS
PENSTOCK_EXPORT int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  const CallScope scope(Function::Errhandler_set, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Errhandler_set(comm, errhandler);
  return set_error_handler(comm, errhandler, PMPI_Errhandler_set);
}

PENSTOCK_EXPORT int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  const CallScope scope(Function::Errhandler_get, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Errhandler_get(comm, errhandler);
  return get_error_handler(comm, errhandler, PMPI_Errhandler_get);
}

PENSTOCK_EXPORT int MPI_Errhandler_create(MPI_Comm_errhandler_function* function,
                                          MPI_Errhandler* errhandler) {
  const CallScope scope(Function::Errhandler_create, __builtin_return_address(0));
  if (scope.stands_aside()) return PMPI_Errhandler_create(function, errhandler);
  return make_error_handler(function, errhandler, PMPI_Errhandler_create);
}
#endif
