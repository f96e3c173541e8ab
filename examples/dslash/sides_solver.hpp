// Solves for all right-hand sides: as a batch or one after the other, by BiCGstab or by conjugate gradients,
// which also take over where BiCGstab gives up.
#pragma once

#include <algorithm>
#include <utility>

#include "examples/dslash/conjugate_gradients.hpp"
#include "examples/dslash/options.hpp"
#include "examples/dslash/solver.hpp"

namespace dslash {

/// How many are solved for at once.
[[nodiscard]] inline int sides_at_once(const Options& options) {
  return options.one_by_one || options.method == Method::gradients ? 1 : options.sides;
}

template <typename Precise, typename Sloppy>
class SidesSolver {
 public:
  SidesSolver(const Options& options, Hop<Precise>& precise, Hop<Sloppy>& sloppy, Sums& sums)
      : method_(options.method),
        is_batch_(sides_at_once(options) == options.sides && method_ == Method::bicgstab),
        precise_(precise, options.coefficients.kappa),
        sloppy_(sloppy, options.coefficients.kappa),
        sums_(sums),
        slab_(precise.team().slab),
        bulk_(precise.streams().bulk),
        own_source_(slab_),
        own_x_(slab_) {}

  /// Collective.
  [[nodiscard]] SolverHistories solve(const SolverOptions& options, const SpinorField<Precise>& source,
                                      const SpinorField<Precise>& x) {
    const int count = source.all_sides().count;
    SolverHistories found;
    if (is_batch_) {
      found = dslash::solve(precise_, sloppy_, sums_, options, source, x);
    } else {
      for (int side = 0; side < count; ++side) {
        x.clear(bulk_, Selection::one(side));
        SolverHistories one = solve_one(method_, options, side, source, x);
        found.sides.push_back(std::move(one.sides.front()));
        found.seconds += one.seconds;
      }
    }
    for (int side = 0; side < count; ++side) {
      SolverHistory& history = found.sides[static_cast<std::size_t>(side)];
      if (method_ == Method::bicgstab && history.has_given_up && !history.has_converged) {
        const SolverHistories more = solve_one(Method::gradients, options, side, source, x);
        go_on_with(history, more.sides.front());
        found.seconds += more.seconds;
      }
    }
    return found;
  }

  /// Of one right-hand side, from what is in `x`. Collective.
  [[nodiscard]] SolverHistories solve_one(Method method, const SolverOptions& options, int side,
                                          const SpinorField<Precise>& source, const SpinorField<Precise>& x) {
    own_source_.copy_side(bulk_, 0, source, side);
    own_x_.copy_side(bulk_, 0, x, side);
    SolverHistories found = method == Method::bicgstab
                                ? dslash::solve(precise_, sloppy_, sums_, options, own_source_, own_x_)
                                : solve_by_gradients(precise_, sloppy_, sums_, options, own_source_, own_x_);
    x.copy_side(bulk_, side, own_x_, 0);
    return found;
  }

  /// What solving needs, beside operators, sources and solutions.
  [[nodiscard]] static std::size_t device_bytes(const Options& options, const Team& team) {
    const Slab& slab = team.slab;
    const int at_once = sides_at_once(options);
    return 2 * SpinorField<Precise>::device_bytes(slab) +
           std::max(solver_bytes<Precise, Sloppy>(slab, at_once),
                    matrix_bytes(slab, at_once) + gradients_bytes<Precise, Sloppy>(slab)) +
           Sums::device_bytes(team, options.reduction, at_once);
  }

 private:
  [[nodiscard]] static std::size_t matrix_bytes(const Slab& slab, int at_once) {
    return SpinorField<Precise>::device_bytes(slab, at_once) +
           SpinorField<Sloppy>::device_bytes(slab, at_once);
  }

  static void go_on_with(SolverHistory& history, const SolverHistory& more) {
    history.residuals.insert(history.residuals.end(), more.residuals.begin(), more.residuals.end());
    history.hash = 3 * history.hash + more.hash;
    history.reliable_updates += more.reliable_updates;
    history.has_converged = more.has_converged;
  }

  Method method_;
  bool is_batch_;
  EvenOddMatrix<Precise> precise_;
  EvenOddMatrix<Sloppy> sloppy_;
  Sums& sums_;
  Slab slab_;
  const example::Stream& bulk_;
  SpinorField<Precise> own_source_;
  SpinorField<Precise> own_x_;
};

}  // namespace dslash
