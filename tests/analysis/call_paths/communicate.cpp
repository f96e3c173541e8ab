#include "communicate.hpp"

double communicate(double value, MPI_Comm communicator) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator);
  return sum;
}
