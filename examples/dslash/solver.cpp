#include "examples/dslash/solver.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>

#include "examples/dslash/median.hpp"

namespace dslash {
namespace {

using Scalar = std::complex<double>;

void add_to_hash(std::uint64_t& hash, Scalar value) {
  for (const double part : {value.real(), value.imag()}) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
}

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
        true_residual_(slab_),
        r_(slab_),
        r0_(slab_),
        p_(slab_),
        v_(slab_),
        t_(slab_),
        x_(slab_) {}

  SolverHistory timed() {
    history_.seconds = slowest_s(precise_.hop().team(), [this] { run(); });
    return history_;
  }

 private:
  void run() {
    queue_norm(bulk_.get(), slab_, source_.view(), sums_.room());
    source_norm_ = std::sqrt(sums_.finish(bulk_)[0]);
    solution_.clear(bulk_);
    if (source_norm_ == 0) {
      history_.has_converged = true;
      return;
    }
    true_residual_.copy_from(bulk_, source_);
    residual_ = source_norm_;
    start();
    const double target = options_.tolerance * source_norm_;
    for (int iteration = 0; iteration < options_.iterations && !history_.has_converged; ++iteration) {
      if (!step()) {
        if (history_.restarts++ > 0) {
          break;  // again: it does not get anywhere
        }
        update_reliably();
        start();
        continue;
      }
      history_.residuals.push_back(residual_ / source_norm_);
      largest_ = std::max(largest_, residual_);
      if (residual_ < options_.delta * largest_ || residual_ <= target) {
        update_reliably();
        history_.has_converged = residual_ <= target;
      }
      queue_direction_step(bulk_.get(), slab_, next_rho_ / rho_ * (alpha_ / omega_), omega_, r_.view(),
                           v_.view(), p_.view());
      rho_ = next_rho_;
    }
    if (!history_.has_converged) {
      update_reliably();
      history_.has_converged = residual_ <= target;
    }
    bulk_.synchronize();
  }

  /// From the true residual, with nothing of what was before.
  void start() {
    queue_convert<Sloppy, Precise>(bulk_.get(), slab_, true_residual_.view(), r_.view());
    r0_.copy_from(bulk_, r_);
    p_.copy_from(bulk_, r_);
    x_.clear(bulk_);
    rho_ = dot(r0_, r_);
    largest_ = residual_;
  }

  /// One iteration, but for the next direction. Whether it went well.
  [[nodiscard]] bool step() {
    sloppy_.apply(p_, v_);
    alpha_ = rho_ / dot(r0_, v_);
    add_to_hash(history_.hash, alpha_);
    if (!is_good(alpha_)) {
      return false;
    }
    queue_add_scaled(bulk_.get(), slab_, -alpha_, v_.view(), r_.view());
    sloppy_.apply(r_, t_);
    queue_dot_and_norm(bulk_.get(), slab_, t_.view(), r_.view(), sums_.room());
    Sums::Four sum = sums_.finish(bulk_);
    omega_ = Scalar(sum[0], sum[1]) / sum[2];
    add_to_hash(history_.hash, omega_);
    if (!is_good(omega_)) {
      return false;
    }
    queue_solution_step(
        bulk_.get(), slab_,
        SolutionStep<Sloppy>{alpha_, omega_, p_.view(), t_.view(), r0_.view(), x_.view(), r_.view()},
        sums_.room());
    sum = sums_.finish(bulk_);
    next_rho_ = {sum[0], sum[1]};
    residual_ = std::sqrt(sum[2]);
    add_to_hash(history_.hash, {residual_, next_rho_.real()});
    return is_good(next_rho_) && std::isfinite(residual_);
  }

  [[nodiscard]] static bool is_good(Scalar value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag()) && std::abs(value) > 0;
  }

  /// Adds what was found to the solution, and replaces the residual by the true one.
  void update_reliably() {
    queue_add<Precise, Sloppy>(bulk_.get(), slab_, x_.view(), solution_.view());
    x_.clear(bulk_);
    precise_.apply(solution_, true_residual_);
    queue_add_scaled(bulk_.get(), slab_, -1, source_.view(), true_residual_.view());
    queue_add_scaled(bulk_.get(), slab_, -2, true_residual_.view(),
                     true_residual_.view());  // changes the sign
    queue_norm(bulk_.get(), slab_, true_residual_.view(), sums_.room());
    residual_ = std::sqrt(sums_.finish(bulk_)[0]);
    queue_convert<Sloppy, Precise>(bulk_.get(), slab_, true_residual_.view(), r_.view());
    next_rho_ = dot(r0_, r_);
    largest_ = residual_;
    ++history_.reliable_updates;
    add_to_hash(history_.hash, {residual_, next_rho_.real()});
  }

  [[nodiscard]] Scalar dot(const SpinorField<Sloppy>& a, const SpinorField<Sloppy>& b) {
    queue_dot(bulk_.get(), slab_, a.view(), b.view(), sums_.room());
    const Sums::Four sum = sums_.finish(bulk_);
    return {sum[0], sum[1]};
  }

  EvenOddMatrix<Precise>& precise_;
  EvenOddMatrix<Sloppy>& sloppy_;
  Sums& sums_;
  SolverOptions options_;
  const SpinorField<Precise>& source_;
  const SpinorField<Precise>& solution_;
  Slab slab_;
  const example::Stream& bulk_;
  SpinorField<Precise> true_residual_;
  SpinorField<Sloppy> r_;
  SpinorField<Sloppy> r0_;
  SpinorField<Sloppy> p_;
  SpinorField<Sloppy> v_;
  SpinorField<Sloppy> t_;
  SpinorField<Sloppy> x_;
  SolverHistory history_;
  Scalar rho_;
  Scalar next_rho_;
  Scalar alpha_;
  Scalar omega_;
  double residual_ = 0;
  double largest_ = 0;  ///< residual since the last reliable update
  double source_norm_ = 0;
};

}  // namespace

template <typename Precise, typename Sloppy>
SolverHistory solve(EvenOddMatrix<Precise>& precise, EvenOddMatrix<Sloppy>& sloppy, Sums& sums,
                    const SolverOptions& options, const SpinorField<Precise>& source,
                    const SpinorField<Precise>& x) {
  return BiCgStab<Precise, Sloppy>(precise, sloppy, sums, options, source, x).timed();
}

#define DSLASH_SOLVE(PRECISE, SLOPPY)                                                                        \
  template SolverHistory solve(EvenOddMatrix<PRECISE>&, EvenOddMatrix<SLOPPY>&, Sums&, const SolverOptions&, \
                               const SpinorField<PRECISE>&, const SpinorField<PRECISE>&);
DSLASH_SOLVE(Double, Double)
DSLASH_SOLVE(Single, Single)
DSLASH_SOLVE(Single, Half)
DSLASH_SOLVE(Double, Half)
#undef DSLASH_SOLVE

}  // namespace dslash
