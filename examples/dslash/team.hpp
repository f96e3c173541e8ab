// The ranks that share a lattice, and this rank's slab. Neighbours along z are ranks one after the other.
#pragma once

#include <mpi.h>

#include "examples/dslash/lattice.hpp"

namespace dslash {

struct Team {
  /// So many of the ranks are along z; the others split time.
  Team(const Lattice& lattice, MPI_Comm of_ranks, int along_z)
      : communicator(of_ranks), ranks_along_z(along_z) {
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    slab = slab_of_rank(lattice, rank, size, along_z);
  }

  /// Where a face goes, and where the one comes from that is received instead.
  [[nodiscard]] int destination(Face face) const {
    return neighbour(face, face == t_upper || face == z_upper ? 1 : -1);
  }
  [[nodiscard]] int source(Face face) const {
    return neighbour(face, face == t_upper || face == z_upper ? -1 : 1);
  }

  MPI_Comm communicator;
  int ranks_along_z = 1;
  int rank = 0;
  int size = 1;
  Slab slab;

 private:
  [[nodiscard]] int neighbour(Face face, int step) const {
    const int place = rank % ranks_along_z;
    if (face == t_upper || face == t_lower) {
      return (rank + size + step * ranks_along_z) % size;
    }
    return rank - place + (place + ranks_along_z + step) % ranks_along_z;
  }
};

}  // namespace dslash
