// The ranks that share a lattice, and this rank's slab.
#pragma once

#include <mpi.h>

#include "examples/dslash/lattice.hpp"

namespace dslash {

struct Team {
  Team(const Lattice& lattice, MPI_Comm of_ranks) : communicator(of_ranks) {
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    slab = slab_of_rank(lattice, rank, size);
  }

  [[nodiscard]] int ahead() const { return (rank + 1) % size; }
  [[nodiscard]] int behind() const { return (rank + size - 1) % size; }

  MPI_Comm communicator;
  int rank = 0;
  int size = 1;
  Slab slab;
};

}  // namespace dslash
