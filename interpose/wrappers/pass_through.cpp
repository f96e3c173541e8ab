// The wrappers of every function that needs no thought: they time the call and hand it on, after what others
// may need of this rank if the call may last.
#include "interpose/binding/mpi_binding.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/progress/progress.hpp"

using penstock::interpose::CallScope;
using penstock::interpose::Function;
using penstock::interpose::settle;
using penstock::interpose::waits;

#define PENSTOCK_EXPAND_pass(name, result, parameters, arguments)       \
  PENSTOCK_EXPORT result MPI_##name parameters {                        \
    const CallScope scope(Function::name, __builtin_return_address(0)); \
    if constexpr (waits(Function::name)) {                              \
      if (!scope.stands_aside()) settle();                              \
    }                                                                   \
    return PMPI_##name arguments;                                       \
  }
#include "interpose/binding/rows_of_owners.def"

// Further arguments mean something to profilers only, who take the call from here.
PENSTOCK_EXPORT int MPI_Pcontrol(const int level, ...) {
  const CallScope scope(Function::Pcontrol, __builtin_return_address(0));
  return PMPI_Pcontrol(level);
}
