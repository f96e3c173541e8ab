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

/// What the tuner has chosen, for so many ranks.
struct Tuned {
  int ranks = 1;
  Policy policy = Policy::none;
  MpiRequests requests = MpiRequests::each_time;
  bool is_measured = false;  ///< now; else it was known from an earlier run
};

/// What became of one right-hand side.
struct SolvedSide {
  double true_residual = 0;
  std::vector<double> residuals;
  std::uint64_t hash = 0;
  int reliable_updates = 0;
  int restarts = 0;
  bool has_given_up = false;  ///< BiCGstab has, so that conjugate gradients went on
  bool has_converged = false;
};

struct Solved {
  double seconds = 0;
  double matrix_s = 0;  ///< as many applications of the inner matrix alone
  double tolerance = 0;
  double delta = 0;
  std::vector<SolvedSide> sides;

  [[nodiscard]] bool has_converged() const;
  /// Sums over right-hand sides.
  [[nodiscard]] std::size_t iterations() const;
  [[nodiscard]] int reliable_updates() const;
  [[nodiscard]] int restarts() const;
  /// The largest.
  [[nodiscard]] double true_residual() const;
  /// Of all histories.
  [[nodiscard]] std::uint64_t hash() const;
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
  std::vector<Tuned> tuned;
  std::optional<Solved> solved;
  std::vector<Check> checks;

  [[nodiscard]] bool verified() const;
};

/// 10^12 operations a second, as the paper counts them.
[[nodiscard]] double tflops(const Options& options, const Case& of);
[[nodiscard]] double tflops(const Options& options, const Solved& solved);

void print(const Options& options, const Result& result);

}  // namespace dslash
