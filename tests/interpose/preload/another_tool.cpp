// Wraps one MPI function, as profilers do, and says so.
#include <mpi.h>

#include <cstdio>

extern "C" int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm) {
  std::puts("another tool saw MPI_Allreduce");
  return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
