// What a run has found, and how it is printed. Knows no MPI and no GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "examples/dslash/options.hpp"

namespace dslash {

/// A policy's time on so many ranks.
struct Case {
  Policy policy;
  int ranks;
  Lattice lattice;
  double application_s;              ///< of the hopping term, on all sites, to all right-hand sides
  std::optional<double> efficiency;  ///< with --scaling: against one rank
};

struct Solved {
  double seconds = 0;
  double matrix_s = 0;  ///< as many applications of the inner matrix alone
  double true_residual = 0;
  double tolerance = 0;
  double delta = 0;
  std::vector<double> residuals;
  std::uint64_t hash = 0;
  int reliable_updates = 0;
  int restarts = 0;
  bool has_converged = false;
};

/// Something that was compared.
struct Check {
  std::string name;
  double value;
  double bound;  ///< the largest value that passes

  [[nodiscard]] bool passes() const { return value <= bound; }
};

struct Result {
  int rank_count = 1;
  std::vector<Case> cases;
  std::optional<Solved> solved;
  std::vector<Check> checks;

  [[nodiscard]] bool verified() const;
};

/// 10^12 operations a second, as the paper counts them.
[[nodiscard]] double tflops(const Options& options, const Case& of);
[[nodiscard]] double tflops(const Options& options, const Solved& solved);

void print(const Options& options, const Result& result);

}  // namespace dslash
