// How long work of all ranks takes: the slowest one's time, and the middle of several rounds.
#pragma once

#include <mpi.h>

#include <vector>

#include "examples/dslash/team.hpp"
#include "examples/support/median.hpp"

namespace dslash {

/// Seconds of `work`, which returns once all is done, on the slowest rank. Collective.
template <typename Work>
[[nodiscard]] double slowest_s(const Team& team, Work&& work) {
  MPI_Barrier(team.communicator);
  const double start_s = MPI_Wtime();
  work();
  double own_s = MPI_Wtime() - start_s;
  MPI_Allreduce(MPI_IN_PLACE, &own_s, 1, MPI_DOUBLE, MPI_MAX, team.communicator);
  return own_s;
}

/// The median of so many rounds. Collective.
template <typename Work>
[[nodiscard]] double median_s(const Team& team, int rounds, Work&& work) {
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    seconds.push_back(slowest_s(team, work));
  }
  return example::median_of(seconds);
}

}  // namespace dslash
