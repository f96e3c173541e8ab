// The operator on even sites alone, and its adjoint.
#pragma once

#include "examples/dslash/hop.hpp"
#include "examples/dslash/sums.hpp"

namespace dslash {

constexpr int even = 0;
constexpr int odd = 1;

/// out = (1 − kappa² D_eo D_oe) in, on even sites; with a clover term A, both D are multiplied by its
/// inverse.
template <typename Precision>
class EvenOddMatrix {
 public:
  EvenOddMatrix(Hop<Precision>& hop, double kappa)
      : hop_(hop), kappa_(kappa), between_(hop.team().slab, hop.most_sides_at_once()) {}

  void apply(const Selection& sides, const SpinorField<Precision>& in, const SpinorField<Precision>& out) {
    hop_.apply(odd, sides, in, between_);
    hop_.apply(even, sides, between_, out, in, -kappa_ * kappa_);
  }
  [[nodiscard]] Hop<Precision>& hop() { return hop_; }
  [[nodiscard]] double kappa() const { return kappa_; }

 private:
  Hop<Precision>& hop_;
  double kappa_;
  SpinorField<Precision> between_;
};

/// Of the matrix, for one right-hand side: 1 − kappa² gamma_5 D_eo A^-1 D_oe A^-1 gamma_5, since
/// D^dagger = gamma_5 D gamma_5.
template <typename Precision>
class AdjointMatrix {
 public:
  explicit AdjointMatrix(EvenOddMatrix<Precision>& matrix)
      : matrix_(matrix), swapped_(slab()), divided_(slab()), between_(slab()) {}

  void apply(const SpinorField<Precision>& in, const SpinorField<Precision>& out) {
    Hop<Precision>& hop = matrix_.hop();
    const cudaStream_t bulk = hop.streams().bulk.get();
    queue_gamma5(bulk, slab(), side_, in.view(), swapped_.view());
    if (hop.clover()) {
      queue_apply_clover(bulk, slab(), side_, hop.clover()->view(even), swapped_.view(), divided_.view());
    }
    hop.apply(odd, side_, hop.clover() ? divided_ : swapped_, between_);
    hop.fuse_clover(false);
    hop.apply(even, side_, between_, out, swapped_, -matrix_.kappa() * matrix_.kappa());
    hop.fuse_clover(true);
    queue_gamma5(bulk, slab(), side_, out.view(), out.view());
  }

 private:
  [[nodiscard]] const Slab& slab() const { return matrix_.hop().team().slab; }

  EvenOddMatrix<Precision>& matrix_;
  Selection side_ = Selection::one(0);
  SpinorField<Precision> swapped_;
  SpinorField<Precision> divided_;  ///< by the clover term
  SpinorField<Precision> between_;
};

/// out = source − M x, and its norms.
template <typename Precision>
[[nodiscard]] inline Sums::OfSides find_residual(EvenOddMatrix<Precision>& matrix, Sums& sums,
                                                 const Selection& sides, const SpinorField<Precision>& source,
                                                 const SpinorField<Precision>& x,
                                                 const SpinorField<Precision>& out) {
  const example::Stream& bulk = matrix.hop().streams().bulk;
  const Slab& slab = matrix.hop().team().slab;
  matrix.apply(sides, x, out);
  queue_residual(bulk.get(), slab, sides, source.view(), out.view(), sums.room());
  return sums.finish(bulk, sides);
}

}  // namespace dslash
