#include "examples/dslash/conjugate_gradients.hpp"

#include <cmath>

#include "examples/dslash/median.hpp"

namespace dslash {
namespace {

template <typename Precise, typename Sloppy>
class Gradients {
 public:
  Gradients(EvenOddMatrix<Precise>& precise, EvenOddMatrix<Sloppy>& sloppy, Sums& sums,
            const SolverOptions& options, const SpinorField<Precise>& source, const SpinorField<Precise>& x)
      : precise_(precise),
        sloppy_(sloppy),
        adjoint_(sloppy),
        sums_(sums),
        options_(options),
        source_(source),
        solution_(x),
        slab_(precise.hop().team().slab),
        bulk_(precise.hop().streams().bulk),
        true_residual_(slab_),
        r_(slab_),
        z_(slab_),
        p_(slab_),
        w_(slab_),
        x_(slab_) {}

  SolverHistories timed() {
    const double seconds = slowest_s(precise_.hop().team(), [this] { run(); });
    return {{history_}, seconds};
  }

 private:
  void run() {
    source_norm_ = std::sqrt(norm_of(source_));
    const double target = options_.tolerance * source_norm_;
    start();
    double largest = residual_;
    history_.has_converged = residual_ <= target;
    for (int i = 0; i < options_.iterations && !history_.has_converged; ++i) {
      step();
      history_.residuals.push_back(residual_ / source_norm_);
      if (!std::isfinite(residual_) || square_ == 0) {
        history_.has_given_up = true;
        return;
      }
      if (residual_ < options_.delta * largest || residual_ <= target) {
        update_reliably();
        start();
        largest = residual_;
        history_.has_converged = residual_ <= target;
      }
    }
    if (!history_.has_converged) {
      update_reliably();
      start();
      history_.has_converged = residual_ <= target;
    }
    bulk_.synchronize();
  }

  /// From the true residual.
  void start() {
    residual_ = std::sqrt(find_residual(precise_, sums_, side_, source_, solution_, true_residual_)[0][0]);
    add_to_hash(history_.hash, residual_);
    queue_convert<Sloppy, Precise>(bulk_.get(), slab_, side_, true_residual_.view(), r_.view());
    x_.clear(bulk_, side_);
    adjoint_.apply(r_, z_);
    p_.copy_from(bulk_, side_, z_);
    square_ = norm_of(z_);
  }

  void step() {
    sloppy_.apply(side_, p_, w_);
    const double alpha = square_ / norm_of(w_);
    queue_add_scaled(bulk_.get(), slab_, side_, for_all_sides(alpha), p_.view(), x_.view());
    queue_add_scaled(bulk_.get(), slab_, side_, for_all_sides(-alpha), w_.view(), r_.view());
    residual_ = std::sqrt(norm_of(r_));
    adjoint_.apply(r_, z_);
    const double next_square = norm_of(z_);
    // p = z + beta p
    queue_direction_step(bulk_.get(), slab_, side_, for_all_sides(next_square / square_), for_all_sides(0),
                         z_.view(), p_.view(), p_.view());
    square_ = next_square;
    add_to_hash(history_.hash, {alpha, residual_});
  }

  /// Adds what was found to the solution.
  void update_reliably() {
    queue_add<Precise, Sloppy>(bulk_.get(), slab_, side_, x_.view(), solution_.view());
    ++history_.reliable_updates;
  }

  template <typename Precision>
  [[nodiscard]] double norm_of(const SpinorField<Precision>& field) {
    queue_norm(bulk_.get(), slab_, side_, field.view(), sums_.room());
    return sums_.finish(bulk_, side_)[0][0];
  }

  EvenOddMatrix<Precise>& precise_;
  EvenOddMatrix<Sloppy>& sloppy_;
  AdjointMatrix<Sloppy> adjoint_;
  Sums& sums_;
  SolverOptions options_;
  const SpinorField<Precise>& source_;
  const SpinorField<Precise>& solution_;
  Slab slab_;
  const example::Stream& bulk_;
  Selection side_ = Selection::one(0);
  SpinorField<Precise> true_residual_;
  SpinorField<Sloppy> r_;
  SpinorField<Sloppy> z_;  ///< M^dagger r
  SpinorField<Sloppy> p_;
  SpinorField<Sloppy> w_;  ///< M p
  SpinorField<Sloppy> x_;
  SolverHistory history_;
  double source_norm_ = 0;
  double residual_ = 0;
  double square_ = 0;  ///< |z|²
};

}  // namespace

template <typename Precise, typename Sloppy>
SolverHistories solve_by_gradients(EvenOddMatrix<Precise>& precise, EvenOddMatrix<Sloppy>& sloppy, Sums& sums,
                                   const SolverOptions& options, const SpinorField<Precise>& source,
                                   const SpinorField<Precise>& x) {
  return Gradients<Precise, Sloppy>(precise, sloppy, sums, options, source, x).timed();
}

#define DSLASH_GRADIENTS(PRECISE, SLOPPY)                                                             \
  template SolverHistories solve_by_gradients(EvenOddMatrix<PRECISE>&, EvenOddMatrix<SLOPPY>&, Sums&, \
                                              const SolverOptions&, const SpinorField<PRECISE>&,      \
                                              const SpinorField<PRECISE>&);
DSLASH_GRADIENTS(Double, Double)
DSLASH_GRADIENTS(Single, Single)
DSLASH_GRADIENTS(Single, Half)
DSLASH_GRADIENTS(Double, Half)
#undef DSLASH_GRADIENTS

}  // namespace dslash
