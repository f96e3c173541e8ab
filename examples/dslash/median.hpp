// The middle of what was measured.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "examples/dslash/team.hpp"

namespace dslash {

[[nodiscard]] inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

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
  return median_of(seconds);
}

}  // namespace dslash
