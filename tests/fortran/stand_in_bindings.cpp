// A library with the name of MPI's Fortran bindings. It calls MPI where the loader has made all addresses of
// functions read-only, of which some are data; or, with LOOKS_UP_FUNCTIONS, in a way that no table shows.
#include "tests/fortran/stand_in_bindings.hpp"

#include <dlfcn.h>
#include <mpi.h>

namespace {

#ifdef LOOKS_UP_FUNCTIONS
template <typename Function>
Function* looked_up(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}
#define FUNCTION(name) looked_up<decltype(PMPI_##name)>("PMPI_" #name)
#else
#define FUNCTION(name) PMPI_##name
#endif

/// Bindings call more of MPI than what is tested here.
struct Functions {
  decltype(&PMPI_Init) init = FUNCTION(Init);
  decltype(&PMPI_Finalize) finalize = FUNCTION(Finalize);
  decltype(&PMPI_Send) send = FUNCTION(Send);
  decltype(&PMPI_Isend) isend = FUNCTION(Isend);
  decltype(&PMPI_Recv) recv = FUNCTION(Recv);
  decltype(&PMPI_Probe) probe = FUNCTION(Probe);
  decltype(&PMPI_Waitall) waitall = FUNCTION(Waitall);
  decltype(&PMPI_Test) test = FUNCTION(Test);
  decltype(&PMPI_Bcast) bcast = FUNCTION(Bcast);
  decltype(&PMPI_Comm_free) comm_free = FUNCTION(Comm_free);
};
__attribute__((used)) const Functions functions;

}  // namespace

void stand_in_receive(void* buffer, int bytes) {
  functions.recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void stand_in_receive_and_wait(void* buffer, int bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  FUNCTION(Irecv)(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
  FUNCTION(Wait)(&request, MPI_STATUS_IGNORE);
}
