#include "examples/dslash/solution.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "examples/dslash/host_fields.hpp"
#include "examples/dslash/median.hpp"
#include "examples/dslash/sides_solver.hpp"
#include "examples/dslash/true_residual.hpp"

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
        at_once_(sides_at_once(options)),
        precise_(team, streams_, options.model, options.rows, options.coefficients, transfer_, at_once_),
        source_(team.slab, options.sides),
        even_source_(team.slab, options.sides),
        solution_(team.slab, options.sides),
        sums_(team, options.reduction, options.transfer.exchange, at_once_) {
    if constexpr (!is_uniform) {
      sloppy_.emplace(team, streams_, options.model, options.rows, options.coefficients, transfer_, at_once_);
    }
    for (int side = 0; side < options.sides; ++side) {
      Model model = options.model;
      model.seed += static_cast<std::uint64_t>(side);
      for (int parity = 0; parity < 2; ++parity) {
        queue_source<Precise>(bulk(), team.slab, parity, source_.of[parity].view(side), model);
      }
    }
    if (precise_.clover()) {
      divided_source_.emplace(team.slab, options.sides);
      for (int parity = 0; parity < 2; ++parity) {
        queue_apply_clover(bulk(), team.slab, Selection::all(options.sides), precise_.clover()->view(parity),
                           source_.of[parity].view(), divided_source_->of[parity].view());
      }
    }
    for_each_batch([&](const Selection& sides) {
      precise_.apply(even, sides, source().of[odd], even_source_, source().of[even], kappa());
    });
  }

  Solved solve() {
    SidesSolver<Precise, Sloppy> solver(options_, precise_, sloppy_hop(), sums_);
    SolverOptions choices{tolerance_of(options_), delta_of(options_), 2, {}};
    // Not measured: kernels are loaded, and buffers are seen by MPI and CUDA, for the first time.
    SolverHistories found = solver.solve(choices, even_source_, solution_.of[even]);
    choices.iterations = options_.iterations;
    choices.failures = options_.failures;
    std::vector<double> seconds;
    for (int round = 0; round < options_.rounds; ++round) {
      found = solver.solve(choices, even_source_, solution_.of[even]);
      seconds.push_back(found.seconds);
    }
    for_each_batch([&](const Selection& sides) {
      precise_.apply(odd, sides, solution_.of[even], solution_.of[odd], source().of[odd], kappa());
    });
    streams_.bulk.synchronize();
    Solved solved;
    solved.seconds = example::median_of(seconds);
    solved.tolerance = tolerance_of(options_);
    solved.delta = delta_of(options_);
    for (SolverHistory& side : found.sides) {
      solved.sides.push_back({0, std::move(side.residuals), side.hash, side.reliable_updates, side.restarts,
                              side.has_given_up, side.has_converged});
    }
    return solved;
  }

  /// As many applications of the inner matrix as the solver made.
  double matrices_s(const Solved& solved) {
    EvenOddMatrix<Sloppy> matrix(sloppy_hop(), kappa());
    const SpinorField<Sloppy> in(team_.slab, at_once_);
    const SpinorField<Sloppy> out(team_.slab, at_once_);
    queue_convert<Sloppy, Precise>(bulk(), team_.slab, in.all_sides(), source_.of[even].view(), in.view());
    const auto apply = [&] {
      for (int first = 0; first < options_.sides; first += at_once_) {
        for (std::size_t iteration = 0;; ++iteration) {
          Selection active = Selection::none();
          for (int side = 0; side < at_once_; ++side) {
            if (solved.sides[static_cast<std::size_t>(first + side)].residuals.size() > iteration) {
              active.add(side);
            }
          }
          if (active.count == 0) {
            break;
          }
          matrix.apply(active, in, out);
          matrix.apply(active, in, out);
        }
      }
      streams_.bulk.synchronize();
    };
    return median_s(team_, options_.rounds, apply);
  }

  /// |eta − M psi| / |eta| of each right-hand side by the operator in double precision.
  void find_true_residuals(Solved& solved) {
    std::optional<Hop<Double>> made;
    if constexpr (!std::is_same_v<Precise, Double>) {
      made.emplace(team_, streams_, options_.model, options_.rows, options_.coefficients, transfer_);
    }
    TrueResidual<Precise> residual(options_, double_hop(made), sums_);
    for (int side = 0; side < options_.sides; ++side) {
      solved.sides[static_cast<std::size_t>(side)].true_residual = residual.of(source_, solution_, side);
    }
  }

  /// |x' − x| / |x| on even sites, where conjugate gradients have found x', for the first right-hand side.
  double difference_from_gradients() {
    SidesSolver<Precise, Sloppy> solver(options_, precise_, sloppy_hop(), sums_);
    const SpinorField<Precise> other(team_.slab);
    other.clear(streams_.bulk, one_);
    const SolverOptions choices{tolerance_of(options_), delta_of(options_), options_.iterations, {}};
    static_cast<void>(solver.solve_one(Method::gradients, choices, 0, even_source_, other));
    const SpinorField<Precise>& found = solution_.of[even];
    queue_add_scaled(bulk(), team_.slab, one_, for_all_sides(-1), found.view(), other.view());
    return std::sqrt(square_of(other) / square_of(found));
  }

  [[nodiscard]] HostField source(int side) { return download(streams_.bulk, team_.slab, source_, side); }
  [[nodiscard]] HostField solution(int side) { return download(streams_.bulk, team_.slab, solution_, side); }

 private:
  static constexpr bool is_uniform = std::is_same_v<Precise, Sloppy>;

  [[nodiscard]] cudaStream_t bulk() const { return streams_.bulk.get(); }
  [[nodiscard]] double kappa() const { return options_.coefficients.kappa; }
  [[nodiscard]] const BothParities<Precise>& source() const {
    return divided_source_ ? *divided_source_ : source_;
  }

  template <typename Call>
  void for_each_batch(Call&& call) const {
    for (int first = 0; first < options_.sides; first += at_once_) {
      call(at_once_ == 1 ? Selection::one(first) : Selection::all(at_once_));
    }
  }

  /// Of the first right-hand side.
  template <typename Precision>
  [[nodiscard]] double square_of(const SpinorField<Precision>& field) {
    queue_norm(bulk(), team_.slab, one_, field.view(), sums_.room());
    return sums_.finish(streams_.bulk, one_)[0][0];
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
  int at_once_;
  Selection one_ = Selection::one(0);
  Streams streams_;
  Hop<Precise> precise_;
  std::optional<Hop<Sloppy>> sloppy_;
  BothParities<Precise> source_;
  std::optional<BothParities<Precise>> divided_source_;  ///< by the clover term
  SpinorField<Precise> even_source_;
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
                        other.solve().hash() == solved.hash() ? 0.0 : 1.0, 0});
    }
  }
  if (options.sides > 1 && options.method == Method::bicgstab) {
    Options other_way = options;
    other_way.one_by_one = !options.one_by_one;
    Solution<Precise, Sloppy> other(other_way, team, policies.front());
    checks.push_back({"history of right-hand sides as a batch differs from one by one",
                      other.solve().hash() == solved.hash() ? 0.0 : 1.0, 0});
  }
  double differs = 0;
  if (team.rank == 0) {
    const Team alone(options.model.lattice, MPI_COMM_SELF, 1);
    Solution<Precise, Sloppy> other(options, alone, Policy::none);
    differs = other.solve().hash() == solved.hash() ? 0 : 1;
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
  solved.matrix_s = solution->matrices_s(solved);
  solution->find_true_residuals(solved);
  if (options.verify) {
    // The tolerance is of the even sites' system, which differs by a little.
    checks.push_back({"true residual", solved.true_residual(), 4 * solved.tolerance});
    for (int side = 0; side < options.sides; ++side) {
      const double by_host = host_residual(options, team, solution->source(side), solution->solution(side));
      checks.push_back({"true residual, less the host's",
                        std::abs(solved.sides[static_cast<std::size_t>(side)].true_residual - by_host),
                        1e-14});
    }
    if (options.method == Method::bicgstab) {
      checks.push_back({"solution against conjugate gradients'", solution->difference_from_gradients(),
                        100 * solved.tolerance});
    }
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
  const int at_once = sides_at_once(options);
  const std::size_t fields_of_side = has_clover ? 7 : 5;
  const std::size_t precise = Hop<Precise>::device_bytes(team, options.rows, has_clover, at_once) +
                              fields_of_side * SpinorField<Precise>::device_bytes(slab, options.sides);
  const std::size_t sloppy = std::is_same_v<Precise, Sloppy>
                                 ? 0
                                 : Hop<Sloppy>::device_bytes(team, options.rows, has_clover, at_once);
  const std::size_t residual =
      TrueResidual<Precise>::device_bytes(options, slab) +
      (std::is_same_v<Precise, Double> ? 0 : Hop<Double>::device_bytes(team, options.rows, has_clover));
  return precise + sloppy + std::max(SidesSolver<Precise, Sloppy>::device_bytes(options, team), residual);
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
