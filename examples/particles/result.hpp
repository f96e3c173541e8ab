// What a run has found, and how it is printed. Knows no MPI and no GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "examples/particles/options.hpp"
#include "examples/particles/survey.hpp"

namespace particles {

/// An oracle's verdict.
struct Check {
  std::string what;
  bool passed;
  std::string found;
};

/// How evenly particles were distributed again. Imbalance is the particles of the fullest rank over the mean,
/// less 1.
struct Rebalancing {
  std::int64_t step;  ///< after so many
  double imbalance_before;
  double imbalance_after;
  double time_s;
};

struct Result {
  int rank_count = 1;
  Survey survey;
  std::int64_t particles = 0;
  double time_s = 0;  ///< of a round, the median
  std::int64_t steps = 0;
  double sent_records_a_step = 0;  ///< by all ranks
  std::int64_t packed_bytes = 0;   ///< that kernels which pack must read and write, by all ranks
  double pack_s = 0;               ///< of these kernels; 0: it was not measured
  double sent_over_touching =
      0;  ///< ghosts over those that interact with particles of the receiver; 0: none was sent
  double migrated_a_step = 0;
  std::int64_t put_back = 0;
  double energy_a_particle = 0;        ///< at the start
  double energy_drift = 0;             ///< since the start, or since the first of several rounds, over that
  std::optional<double> fitted_drift;  ///< the same, by a line through many steps' energies
  double temperature = 0;              ///< at the end
  double pressure = 0;                 ///< at the end, by the virial
  std::uint64_t hash = 0;              ///< of all identities, positions and velocities
  std::vector<Rebalancing> rebalancings;
  std::vector<Check> checks;  ///< none: nothing was verified

  [[nodiscard]] double particle_steps_per_s() const {
    return static_cast<double>(particles) * static_cast<double>(steps) / time_s;
  }
  /// By a rank.
  [[nodiscard]] double packed_bytes_per_s() const {
    return pack_s > 0 ? static_cast<double>(packed_bytes) / pack_s : 0;
  }
  [[nodiscard]] bool verified() const;
};

void print(const Options& options, const Result& result);
/// How pieces look, alone.
void print(const Options& options, const Survey& survey);

}  // namespace particles
