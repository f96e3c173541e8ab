// Command line of the Wilson operator and solver. Knows no GPU and no MPI.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/dslash/model.hpp"
#include "examples/dslash/settings.hpp"

namespace dslash {

/// Of the operator; or of the solver, where two names are those of the outer and of the inner precision.
enum class Numbers { in_double, in_single, in_half, in_single_half, in_double_half };

enum class Scaling {
  none,
  weak,   ///< the lattice is each rank's: T grows with the ranks
  strong  ///< the lattice is that of all ranks
};

struct Options {
  Model model;
  std::string gauge_path;    ///< of a file with links, or nothing
  std::string written_path;  ///< of a file that gets the links, or nothing
  Numbers numbers = Numbers::in_single;
  int rows = 2;     ///< of links that are stored
  int split_z = 1;  ///< ranks along z; the others split time
  int sides = 1;    ///< right-hand sides that the operator is applied to at once
  Coefficients coefficients;
  Transfer transfer;
  bool all_policies = false;
  bool tunes = false;  ///< the fastest policy is found, or known from an earlier run
  std::string tuning_path = "dslash-tuning.json";
  int applications = 20;
  int rounds = 1;
  bool solves = false;
  double tolerance = 0;  ///< 0: as the precision allows
  double delta = 0;      ///< 0: as the paper has it
  int iterations = 1000;
  Method method = Method::bicgstab;
  bool one_by_one = false;    ///< right-hand sides are solved for one after the other
  std::vector<int> failures;  ///< iterations that count as broken down
  Reduction reduction = Reduction::allreduce;
  Scaling scaling = Scaling::none;
  bool verify = false;
  bool json = false;

  /// With a clover term, the even-odd matrix is timed instead of the hopping term.
  [[nodiscard]] bool times_matrix() const { return coefficients.has_clover(); }
  /// The policies to run.
  [[nodiscard]] std::vector<Policy> policies() const;
};

[[nodiscard]] std::string name_of(Numbers numbers);
[[nodiscard]] std::string name_of(Policy policy);
[[nodiscard]] std::string name_of(MpiRequests requests);
[[nodiscard]] std::string name_of(Stage stage);
[[nodiscard]] std::string name_of(Reduction reduction);
[[nodiscard]] std::string name_of(Method method);
[[nodiscard]] std::string name_of(Scaling scaling);
[[nodiscard]] std::string name_of(Gauge gauge);

[[nodiscard]] std::optional<Policy> policy_named(const std::string& name);
[[nodiscard]] std::optional<MpiRequests> requests_named(const std::string& name);

/// Nothing if the program should end at once, with `exit_code`. Rank 0 alone prints.
[[nodiscard]] std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count,
                                                  int& exit_code);

}  // namespace dslash
