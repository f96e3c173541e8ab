#include <mpi.h>

int initialise_through_library(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Finalize();
  return 0;
}
