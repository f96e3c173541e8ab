#include "examples/dslash/solver.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>

#include "examples/dslash/median.hpp"

namespace dslash {
namespace {

using Scalar = std::complex<double>;

/// Vectors whose angle is so close to a right one have lost each other in rounding.
constexpr double least_cosine = 1e-13;

/// A right-hand side's part of the iteration.
struct Side {
  SolverHistory history;
  double source_norm = 0;
  double residual = 0;
  double largest = 0;      ///< residual since the last reliable update
  double shadow_norm = 0;  ///< of the residual at the last start
};

/// The iteration's state.
template <typename Precise, typename Sloppy>
class BiCgStab {
 public:
  BiCgStab(EvenOddMatrix<Precise>& precise, EvenOddMatrix<Sloppy>& sloppy, Sums& sums,
           const SolverOptions& options, const SpinorField<Precise>& source, const SpinorField<Precise>& x)
      : precise_(precise),
        sloppy_(sloppy),
        sums_(sums),
        options_(options),
        source_(source),
        solution_(x),
        slab_(precise.hop().team().slab),
        bulk_(precise.hop().streams().bulk),
        all_(source.all_sides()),
        true_residual_(slab_, all_.count),
        r_(slab_, all_.count),
        r0_(slab_, all_.count),
        p_(slab_, all_.count),
        v_(slab_, all_.count),
        t_(slab_, all_.count),
        x_(slab_, all_.count),
        sides_(static_cast<std::size_t>(all_.count)) {}

  SolverHistories timed() {
    SolverHistories histories;
    histories.seconds = slowest_s(precise_.hop().team(), [this] { run(); });
    for (Side& side : sides_) {
      histories.sides.push_back(std::move(side.history));
    }
    return histories;
  }

 private:
  void run() {
    solution_.clear(bulk_, all_);
    queue_norm(bulk_.get(), slab_, all_, source_.view(), sums_.room());
    const Sums::OfSides norms = sums_.finish(bulk_, all_);
    true_residual_.copy_from(bulk_, all_, source_);
    active_ = chosen(all_, [&](std::size_t side) {
      sides_[side].residual = sides_[side].source_norm = std::sqrt(norms[side][0]);
      sides_[side].history.has_converged = sides_[side].source_norm == 0;
      return !sides_[side].history.has_converged;
    });
    start(active_);
    for (int iteration = 0; iteration < options_.iterations && active_.count > 0; ++iteration) {
      const Selection good = step(active_, iteration);
      restart(chosen(active_, [&](std::size_t side) { return !contains(good, side); }));
      finish_iteration(good);
      active_ = chosen(active_, [&](std::size_t side) { return !is_done(side); });
    }
    const Selection left =
        chosen(all_, [&](std::size_t side) { return !sides_[side].history.has_converged; });
    update_reliably(left);
    for_each(left, [&](std::size_t side) { sides_[side].history.has_converged = has_reached_target(side); });
    bulk_.synchronize();
  }

  /// From the true residuals, with nothing of what was before.
  void start(const Selection& which) {
    queue_convert<Sloppy, Precise>(bulk_.get(), slab_, which, true_residual_.view(), r_.view());
    r0_.copy_from(bulk_, which, r_);
    p_.copy_from(bulk_, which, r_);
    x_.clear(bulk_, which);
    queue_dot(bulk_.get(), slab_, which, r0_.view(), r_.view(), sums_.room());
    const Sums::OfSides sums = sums_.finish(bulk_, which);
    for_each(which, [&](std::size_t side) {
      rho_[side] = {sums[side][0], sums[side][1]};
      sides_[side].largest = sides_[side].shadow_norm = sides_[side].residual;
    });
  }

  /// One iteration, but for the next direction. Those for which it went well.
  [[nodiscard]] Selection step(const Selection& which, int iteration) {
    sloppy_.apply(which, p_, v_);
    queue_dot(bulk_.get(), slab_, which, r0_.view(), v_.view(), sums_.room());
    Sums::OfSides sums = sums_.finish(bulk_, which);
    const bool fails = std::ranges::find(options_.failures, iteration) != options_.failures.end();
    Selection good = chosen(which, [&](std::size_t side) {
      alpha_[side] = rho_[side] / Scalar(sums[side][0], sums[side][1]);
      add_to_hash(sides_[side].history.hash, alpha_[side]);
      return !fails && is_good(alpha_[side]);
    });
    queue_add_scaled(bulk_.get(), slab_, good, negative(alpha_), v_.view(), r_.view());
    sloppy_.apply(good, r_, t_);
    queue_dot_and_norm(bulk_.get(), slab_, good, t_.view(), r_.view(), sums_.room());
    const Sums::OfSides of_t = sums_.finish(bulk_, good);
    good = chosen(good, [&](std::size_t side) {
      omega_[side] = Scalar(of_t[side][0], of_t[side][1]) / of_t[side][2];
      add_to_hash(sides_[side].history.hash, omega_[side]);
      return is_good(omega_[side]);
    });
    queue_solution_step(bulk_.get(), slab_, good, alpha_, omega_,
                        SolutionStep<Sloppy>{p_.view(), t_.view(), r0_.view(), x_.view(), r_.view()},
                        sums_.room());
    sums = sums_.finish(bulk_, good);
    return chosen(good, [&](std::size_t index) {
      Side& side = sides_[index];
      next_rho_[index] = {sums[index][0], sums[index][1]};
      side.residual = std::sqrt(sums[index][2]);
      add_to_hash(side.history.hash, {side.residual, next_rho_[index].real()});
      if (has_reached_target(index)) {
        return true;
      }
      const double step_norm = std::abs(omega_[index]) * std::sqrt(of_t[index][2]);
      return is_good(next_rho_[index]) && std::isfinite(side.residual) &&
             std::abs(next_rho_[index]) > least_cosine * side.shadow_norm * side.residual &&
             step_norm > least_cosine * side.residual;
    });
  }

  /// The first time. Those that break down again do not get anywhere.
  void restart(const Selection& broken) {
    const Selection again = chosen(broken, [&](std::size_t side) {
      SolverHistory& history = sides_[side].history;
      history.has_given_up = history.restarts == 1;
      history.restarts = 1;
      return !history.has_given_up;
    });
    update_reliably(again);
    start(again);
  }

  void finish_iteration(const Selection& which) {
    for_each(which, [&](std::size_t index) {
      Side& side = sides_[index];
      side.history.residuals.push_back(side.residual / side.source_norm);
      side.largest = std::max(side.largest, side.residual);
    });
    const Selection updated = chosen(which, [&](std::size_t index) {
      return sides_[index].residual < options_.delta * sides_[index].largest || has_reached_target(index);
    });
    update_reliably(updated);
    for_each(updated,
             [&](std::size_t side) { sides_[side].history.has_converged = has_reached_target(side); });
    const Selection going_on = chosen(which, [&](std::size_t side) { return !is_done(side); });
    SideScalars beta{};
    for_each(going_on, [&](std::size_t side) {
      beta[side] = next_rho_[side] / rho_[side] * (alpha_[side] / omega_[side]);
      rho_[side] = next_rho_[side];
    });
    queue_direction_step(bulk_.get(), slab_, going_on, beta, omega_, r_.view(), v_.view(), p_.view());
  }

  /// Adds what was found to the solution, and replaces the residual by the true one.
  void update_reliably(const Selection& which) {
    if (which.count == 0) {
      return;
    }
    queue_add<Precise, Sloppy>(bulk_.get(), slab_, which, x_.view(), solution_.view());
    x_.clear(bulk_, which);
    const Sums::OfSides norms = find_residual(precise_, sums_, which, source_, solution_, true_residual_);
    queue_convert<Sloppy, Precise>(bulk_.get(), slab_, which, true_residual_.view(), r_.view());
    queue_dot(bulk_.get(), slab_, which, r0_.view(), r_.view(), sums_.room());
    const Sums::OfSides dots = sums_.finish(bulk_, which);
    for_each(which, [&](std::size_t index) {
      Side& side = sides_[index];
      side.residual = side.largest = std::sqrt(norms[index][0]);
      next_rho_[index] = {dots[index][0], dots[index][1]};
      ++side.history.reliable_updates;
      add_to_hash(side.history.hash, {side.residual, next_rho_[index].real()});
    });
  }

  [[nodiscard]] bool has_reached_target(std::size_t side) const {
    return sides_[side].residual <= options_.tolerance * sides_[side].source_norm;
  }
  [[nodiscard]] bool is_done(std::size_t side) const {
    return sides_[side].history.has_converged || sides_[side].history.has_given_up;
  }

  [[nodiscard]] static bool is_good(Scalar value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag()) && std::abs(value) > 0;
  }
  [[nodiscard]] static SideScalars negative(SideScalars numbers) {
    for (Scalar& number : numbers) {
      number = -number;
    }
    return numbers;
  }

  template <typename Call>
  static void for_each(const Selection& which, Call&& call) {
    for (int i = 0; i < which.count; ++i) {
      call(static_cast<std::size_t>(which.field_of(i)));
    }
  }
  template <typename Predicate>
  [[nodiscard]] static Selection chosen(const Selection& which, Predicate&& is_chosen) {
    Selection result = Selection::none();
    for_each(which, [&](std::size_t side) {
      if (is_chosen(side)) {
        result.add(static_cast<int>(side));
      }
    });
    return result;
  }
  [[nodiscard]] static bool contains(const Selection& which, std::size_t wanted) {
    return chosen(which, [&](std::size_t side) { return side == wanted; }).count > 0;
  }

  EvenOddMatrix<Precise>& precise_;
  EvenOddMatrix<Sloppy>& sloppy_;
  Sums& sums_;
  SolverOptions options_;
  const SpinorField<Precise>& source_;
  const SpinorField<Precise>& solution_;
  Slab slab_;
  const example::Stream& bulk_;
  Selection all_;
  SpinorField<Precise> true_residual_;
  SpinorField<Sloppy> r_;
  SpinorField<Sloppy> r0_;
  SpinorField<Sloppy> p_;
  SpinorField<Sloppy> v_;
  SpinorField<Sloppy> t_;
  SpinorField<Sloppy> x_;
  std::vector<Side> sides_;
  Selection active_;
  SideScalars rho_{};
  SideScalars next_rho_{};
  SideScalars alpha_{};
  SideScalars omega_{};
};

}  // namespace

void add_to_hash(std::uint64_t& hash, Scalar value) {
  for (const double part : {value.real(), value.imag()}) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
}

template <typename Precise, typename Sloppy>
SolverHistories solve(EvenOddMatrix<Precise>& precise, EvenOddMatrix<Sloppy>& sloppy, Sums& sums,
                      const SolverOptions& options, const SpinorField<Precise>& source,
                      const SpinorField<Precise>& x) {
  return BiCgStab<Precise, Sloppy>(precise, sloppy, sums, options, source, x).timed();
}

#define DSLASH_SOLVE(PRECISE, SLOPPY)                                                    \
  template SolverHistories solve(EvenOddMatrix<PRECISE>&, EvenOddMatrix<SLOPPY>&, Sums&, \
                                 const SolverOptions&, const SpinorField<PRECISE>&,      \
                                 const SpinorField<PRECISE>&);
DSLASH_SOLVE(Double, Double)
DSLASH_SOLVE(Single, Single)
DSLASH_SOLVE(Single, Half)
DSLASH_SOLVE(Double, Half)
#undef DSLASH_SOLVE

}  // namespace dslash
