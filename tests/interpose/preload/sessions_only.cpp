// Uses MPI by a session, without MPI_Init.
#include <mpi.h>

#include <cstdio>

int main() {
  MPI_Session session = MPI_SESSION_NULL;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 2;
  MPI_Session_finalize(&session);
  std::puts("done");
  return 0;
}
