// The wrappers of all functions without special treatment. They time the call and pass it on; before a call
// that may last, this rank first does what others may need of it.
#include "interpose/binding/mpi_binding.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/progress/gathering.hpp"

using penstock::interpose::among_others;
using penstock::interpose::CallScope;
using penstock::interpose::Function;

#define PENSTOCK_AND_ALL_OF(...) __VA_OPT__(, ) __VA_ARGS__
#define PENSTOCK_EXPAND_pass(name, result, parameters, arguments)             \
  PENSTOCK_EXPORT result MPI_##name parameters {                              \
    const CallScope scope(Function::name, __builtin_return_address(0));       \
    if (scope.stands_aside()) return PMPI_##name arguments;                   \
    return among_others<Function::name>(                                      \
        [&] { return PMPI_##name arguments; } PENSTOCK_AND_ALL_OF arguments); \
  }
#include "interpose/binding/rows_of_owners.def"

// Further arguments are for profilers only, which intercept the call here.
PENSTOCK_EXPORT int MPI_Pcontrol(const int level, ...) {
  const CallScope scope(Function::Pcontrol, __builtin_return_address(0));
  return PMPI_Pcontrol(level);
}
