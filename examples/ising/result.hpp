// What a run has found, whether it is right, and how it is printed. Knows no MPI and no GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "examples/ising/options.hpp"
#include "examples/ising/theory.hpp"

namespace ising {

/// Compared with theory: how far off the mean energy is, in standard errors.
struct Comparison {
  Theory theory;
  double standard_errors;

  /// Chance exceeds this once in a million runs.
  [[nodiscard]] bool agrees() const { return standard_errors > -5 && standard_errors < 5; }
};

struct Result {
  int rank_count = 1;
  double time_s = 0;
  double energy_per_spin = 0;                 ///< mean of all measurements
  double magnetisation_per_spin = 0;          ///< of the last measurement
  std::optional<double> mean_square_overlap;  ///< of replicas
  std::uint64_t hash = 0;                     ///< of every spin and its place
  std::optional<Comparison> comparison;
  std::optional<std::int64_t> wrong_spins;  ///< where they were compared with the reference

  /// Nothing that was checked is wrong.
  [[nodiscard]] bool verified() const {
    return wrong_spins.value_or(0) == 0 && (!comparison || comparison->agrees());
  }
};

/// Of the mean of these energies, measured one after another.
[[nodiscard]] std::optional<Comparison> compare_with_theory(const Options& options,
                                                            const std::vector<double>& energies);

void print(const Options& options, const Result& result);

}  // namespace ising
