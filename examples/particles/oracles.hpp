// What --verify compares a simulation with. The checks are complete on rank 0.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "examples/particles/domain.hpp"
#include "examples/particles/options.hpp"
#include "examples/particles/result.hpp"
#include "examples/particles/simulation.hpp"

namespace particles {

class Oracles {
 public:
  /// Looks at the start. Collective, as the others.
  Oracles(const Options& options, const Domain& domain, Simulation& simulation, const Totals& start);

  /// After each step.
  void look(Simulation& simulation);
  /// At the end. `fluid` is that of the domain.
  [[nodiscard]] std::vector<Check> finish(Simulation& simulation, const Totals& end, MPI_Comm communicator,
                                          const std::vector<std::uint8_t>& fluid);

 private:
  void check_temperature(const Simulation& simulation, const Totals& end);
  void compare_forces(Simulation& simulation, const std::string& when);
  void compare_with_one_rank(const Simulation& simulation, const Totals& end, int rank,
                             const std::vector<std::uint8_t>& fluid);

  const Options& options_;
  const Domain& domain_;
  Totals start_;
  std::int64_t steps_with_other_particles_ = 0;
  std::vector<Check> checks_;
};

}  // namespace particles
