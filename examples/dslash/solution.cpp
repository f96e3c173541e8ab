#include "examples/dslash/solution.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "examples/dslash/host_fields.hpp"
#include "examples/dslash/median.hpp"
#include "examples/dslash/solver.hpp"

namespace dslash {
namespace {

/// One solution: links, sources and what came out.
template <typename Precise, typename Sloppy>
class Solution {
 public:
  Solution(const Options& options, const Team& team, Policy policy)
      : options_(options),
        team_(team),
        transfer_(options.transfer.by(policy)),
        precise_(team, streams_, options.model, options.rows, options.coefficients, transfer_),
        source_(team.slab),
        solution_(team.slab),
        sums_(team, options.reduction, options.transfer.exchange) {
    if constexpr (!is_uniform) {
      sloppy_.emplace(team, streams_, options.model, options.rows, options.coefficients, transfer_);
    }
    for (int parity = 0; parity < 2; ++parity) {
      queue_source<Precise>(streams_.bulk.get(), team.slab, parity, source_.of[parity].view(), options.model);
    }
    if (precise_.clover()) {
      divided_source_.emplace(team.slab);
      for (int parity = 0; parity < 2; ++parity) {
        queue_apply_clover(streams_.bulk.get(), team.slab, precise_.clover()->view(parity),
                           source_.of[parity].view(), divided_source_->of[parity].view());
      }
    }
  }

  Solved solve() {
    const Slab& slab = team_.slab;
    EvenOddMatrix<Precise> precise(precise_, options_.coefficients.kappa);
    EvenOddMatrix<Sloppy> sloppy(sloppy_hop(), options_.coefficients.kappa);
    const SpinorField<Precise> even_source(slab);
    const BothParities<Precise>& source = divided_source_ ? *divided_source_ : source_;
    precise_.apply(even, source.of[odd], even_source, source.of[even], options_.coefficients.kappa);
    SolverOptions choices{tolerance_of(options_), delta_of(options_), 2};
    // Not measured: kernels are loaded, and buffers are seen by MPI and CUDA, for the first time.
    SolverHistory history = dslash::solve(precise, sloppy, sums_, choices, even_source, solution_.of[even]);
    choices.iterations = options_.iterations;
    std::vector<double> seconds;
    for (int round = 0; round < options_.rounds; ++round) {
      history = dslash::solve(precise, sloppy, sums_, choices, even_source, solution_.of[even]);
      seconds.push_back(history.seconds);
    }
    precise_.apply(odd, solution_.of[even], solution_.of[odd], source.of[odd], options_.coefficients.kappa);
    streams_.bulk.synchronize();
    Solved solved;
    solved.seconds = median_of(seconds);
    solved.tolerance = tolerance_of(options_);
    solved.delta = delta_of(options_);
    solved.hash = history.hash;
    solved.reliable_updates = history.reliable_updates;
    solved.restarts = history.restarts;
    solved.has_converged = history.has_converged;
    solved.residuals = std::move(history.residuals);
    return solved;
  }

  /// As many applications of the inner matrix as the solver made.
  double matrices_s(std::size_t iterations) {
    EvenOddMatrix<Sloppy> matrix(sloppy_hop(), options_.coefficients.kappa);
    const SpinorField<Sloppy> in(team_.slab);
    const SpinorField<Sloppy> out(team_.slab);
    queue_convert<Sloppy, Precise>(streams_.bulk.get(), team_.slab, source_.of[even].view(), in.view());
    const auto apply = [&] {
      for (std::size_t i = 0; i < 2 * iterations; ++i) {
        matrix.apply(in, out);
      }
      streams_.bulk.synchronize();
    };
    return median_s(team_, options_.rounds, apply);
  }

  /// |eta − M psi| / |eta| by the operator in double precision.
  double true_residual() {
    const Slab& slab = team_.slab;
    std::optional<Hop<Double>> made;
    if constexpr (!std::is_same_v<Precise, Double>) {
      made.emplace(team_, streams_, options_.model, options_.rows, options_.coefficients, transfer_);
    }
    Hop<Double>& hop = double_hop(made);
    hop.fuse_clover(false);
    double squares[2] = {0, 0};
    const BothParities<Double> psi(slab);
    const SpinorField<Double> eta(slab);
    const SpinorField<Double> residual(slab);
    for (int parity = 0; parity < 2; ++parity) {
      queue_convert<Double, Precise>(streams_.bulk.get(), slab, solution_.of[parity].view(),
                                     psi.of[parity].view());
    }
    for (int parity = 0; parity < 2; ++parity) {
      queue_convert<Double, Precise>(streams_.bulk.get(), slab, source_.of[parity].view(), eta.view());
      queue_norm(streams_.bulk.get(), slab, eta.view(), sums_.room());
      squares[1] += sums_.finish(streams_.bulk)[0];
      subtract_diagonal(parity, psi.of[parity], residual, eta);
      hop.apply(parity, psi.of[1 - parity], residual, eta, options_.coefficients.kappa);
      queue_norm(streams_.bulk.get(), slab, residual.view(), sums_.room());
      squares[0] += sums_.finish(streams_.bulk)[0];
    }
    hop.fuse_clover(true);
    return std::sqrt(squares[0] / squares[1]);
  }

  [[nodiscard]] HostField source() { return download(streams_.bulk, team_.slab, source_); }
  [[nodiscard]] HostField solution() { return download(streams_.bulk, team_.slab, solution_); }

 private:
  static constexpr bool is_uniform = std::is_same_v<Precise, Sloppy>;

  /// eta −= psi, or A psi with a clover term A. `room` is for it.
  void subtract_diagonal(int parity, const SpinorField<Double>& psi, const SpinorField<Double>& room,
                         const SpinorField<Double>& eta) {
    const Slab& slab = team_.slab;
    if (!options_.coefficients.has_clover()) {
      queue_add_scaled(streams_.bulk.get(), slab, -1, psi.view(), eta.view());
      return;
    }
    const CloverField<Double> clover(slab);
    queue_clover(streams_.bulk.get(), slab, parity, options_.model,
                 options_.coefficients.kappa * options_.coefficients.clover, false, clover.view(parity));
    queue_apply_clover(streams_.bulk.get(), slab, clover.view(parity), psi.view(), room.view());
    queue_add_scaled(streams_.bulk.get(), slab, -1, room.view(), eta.view());
    streams_.bulk.synchronize();  // the term is freed
  }

  [[nodiscard]] Hop<Sloppy>& sloppy_hop() {
    if constexpr (is_uniform) {
      return precise_;
    } else {
      return *sloppy_;
    }
  }

  [[nodiscard]] Hop<Double>& double_hop(std::optional<Hop<Double>>& made) {
    if constexpr (std::is_same_v<Precise, Double>) {
      return precise_;
    } else {
      return *made;
    }
  }

  Options options_;
  Team team_;
  Transfer transfer_;
  Streams streams_;
  Hop<Precise> precise_;
  std::optional<Hop<Sloppy>> sloppy_;
  BothParities<Precise> source_;
  std::optional<BothParities<Precise>> divided_source_;  ///< by the clover term
  BothParities<Precise> solution_;
  Sums sums_;
};

/// The whole field from its parts. Collective.
HostField joined(HostField parts, const Team& team) {
  MPI_Allreduce(MPI_IN_PLACE, parts.data(), static_cast<int>(parts.size() * 24), MPI_DOUBLE, MPI_SUM,
                team.communicator);
  return parts;
}

/// |eta − M psi| / |eta| by the host.
double host_residual(const Options& options, const Team& team, const HostField& eta, const HostField& psi) {
  const Reference reference(options.model, options.coefficients);
  return relative_difference(reference.wilson(joined(psi, team)), eta, team);
}

template <typename Precise, typename Sloppy>
void check_bits(const Options& options, const Team& team, const std::vector<Policy>& policies,
                const Solved& solved, std::vector<Check>& checks) {
  for (const Policy policy : policies) {
    if (policy != policies.front()) {
      Solution<Precise, Sloppy> other(options, team, policy);
      checks.push_back({"history of policy " + name_of(policy) + " differs",
                        other.solve().hash == solved.hash ? 0.0 : 1.0, 0});
    }
  }
  double differs = 0;
  if (team.rank == 0) {
    const Team alone(options.model.lattice, MPI_COMM_SELF);
    Solution<Precise, Sloppy> other(options, alone, Policy::none);
    differs = other.solve().hash == solved.hash ? 0 : 1;
  }
  MPI_Bcast(&differs, 1, MPI_DOUBLE, 0, team.communicator);
  checks.push_back({"history of one rank differs", differs, 0});
}

}  // namespace

double tolerance_of(const Options& options) {
  if (options.tolerance > 0) {
    return options.tolerance;
  }
  const bool is_double = options.numbers == Numbers::in_double || options.numbers == Numbers::in_double_half;
  return is_double ? 1e-14 : 1e-7;
}

double delta_of(const Options& options) {
  if (options.delta > 0) {
    return options.delta;
  }
  switch (options.numbers) {
    case Numbers::in_double:
      return 1e-5;
    case Numbers::in_double_half:
      return 1e-2;
    case Numbers::in_single_half:
      return 1e-1;
    case Numbers::in_single:
    case Numbers::in_half:
      break;
  }
  return 1e-3;
}

template <typename Precise, typename Sloppy>
Solved solve_for_random_source(const Options& options, const Team& team, const std::vector<Policy>& policies,
                               std::vector<Check>& checks) {
  std::optional<Solution<Precise, Sloppy>> solution(std::in_place, options, team, policies.front());
  Solved solved = solution->solve();
  solved.matrix_s = solution->matrices_s(solved.residuals.size());
  solved.true_residual = solution->true_residual();
  if (options.verify) {
    // The tolerance is of the even sites' system, which differs by a little.
    checks.push_back({"true residual", solved.true_residual, 4 * solved.tolerance});
    const double by_host = host_residual(options, team, solution->source(), solution->solution());
    checks.push_back({"true residual, less the host's", std::abs(solved.true_residual - by_host), 1e-14});
    solution.reset();
    if (options.reduction == Reduction::by_slice) {
      check_bits<Precise, Sloppy>(options, team, policies, solved, checks);
    }
  }
  return solved;
}

template <typename Precise, typename Sloppy>
std::size_t solution_bytes(const Options& options, const Team& team) {
  const Slab& slab = team.slab;
  const bool has_clover = options.coefficients.has_clover();
  const std::size_t precise_fields = has_clover ? 7 : 5;
  const std::size_t precise = Hop<Precise>::device_bytes(team, options.rows, has_clover) +
                              precise_fields * SpinorField<Precise>::device_bytes(slab) +
                              Sums::device_bytes(slab);
  const std::size_t sloppy =
      std::is_same_v<Precise, Sloppy> ? 0 : Hop<Sloppy>::device_bytes(team, options.rows, has_clover);
  const std::size_t residual =
      4 * SpinorField<Double>::device_bytes(slab) +
      (has_clover ? CloverField<Double>::device_bytes(slab) : 0) +
      (std::is_same_v<Precise, Double> ? 0 : Hop<Double>::device_bytes(team, options.rows, has_clover));
  return precise + sloppy + std::max(solver_bytes<Precise, Sloppy>(slab), residual);
}

#define DSLASH_SOLUTION(PRECISE, SLOPPY)                                                                     \
  template Solved solve_for_random_source<PRECISE, SLOPPY>(const Options&, const Team&,                      \
                                                           const std::vector<Policy>&, std::vector<Check>&); \
  template std::size_t solution_bytes<PRECISE, SLOPPY>(const Options&, const Team&);
DSLASH_SOLUTION(Double, Double)
DSLASH_SOLUTION(Single, Single)
DSLASH_SOLUTION(Single, Half)
DSLASH_SOLUTION(Double, Half)
#undef DSLASH_SOLUTION

}  // namespace dslash
