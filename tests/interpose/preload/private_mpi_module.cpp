// Uses MPI's functions and, through Open MPI's handles, its data. Exit code 2 when MPI cannot be initialised.
#include <mpi.h>

#include <cstdio>

extern "C" int run_mpi() {
  int is_initialised = 1;
  if (MPI_Initialized(&is_initialised) == MPI_SUCCESS && is_initialised != 0) return 3;
  if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) return 2;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  int sent = 42;
  int sum = 0;
  MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, communicator);
  int received = 0;
  MPI_Sendrecv(&sum, 1, MPI_INT, rank, 0, &received, 1, MPI_INT, rank, 0, communicator, MPI_STATUS_IGNORE);
  MPI_Comm_free(&communicator);
  std::printf("rank %d of %d, sum %d\n", rank, size, received);
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 4;
}
