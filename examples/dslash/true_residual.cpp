#include "examples/dslash/true_residual.hpp"

#include <cmath>

namespace dslash {

template <typename Precise>
TrueResidual<Precise>::TrueResidual(const Options& options, Hop<Double>& hop, Sums& sums)
    : options_(options), hop_(hop), sums_(sums), psi_(slab()), eta_(slab()), residual_(slab()) {}

template <typename Precise>
std::size_t TrueResidual<Precise>::device_bytes(const Options& options, const Slab& slab) {
  return 4 * SpinorField<Double>::device_bytes(slab) +
         (options.coefficients.has_clover() ? CloverField<Double>::device_bytes(slab) : 0);
}

template <typename Precise>
double TrueResidual<Precise>::of(const BothParities<Precise>& source, const BothParities<Precise>& solution,
                                 int side) {
  double squares[2] = {0, 0};
  for (int parity = 0; parity < 2; ++parity) {
    queue_convert<Double, Precise>(bulk(), slab(), one_, solution.of[parity].view(side),
                                   psi_.of[parity].view());
  }
  hop_.fuse_clover(false);
  for (int parity = 0; parity < 2; ++parity) {
    queue_convert<Double, Precise>(bulk(), slab(), one_, source.of[parity].view(side), eta_.view());
    squares[1] += square_of(eta_);
    subtract_diagonal(parity);
    hop_.apply(parity, one_, psi_.of[1 - parity], residual_, eta_, options_.coefficients.kappa);
    squares[0] += square_of(residual_);
  }
  hop_.fuse_clover(true);
  return std::sqrt(squares[0] / squares[1]);
}

template <typename Precise>
double TrueResidual<Precise>::square_of(const SpinorField<Double>& field) {
  queue_norm(bulk(), slab(), one_, field.view(), sums_.room());
  return sums_.finish(hop_.streams().bulk, one_)[0][0];
}

/// eta −= psi, or A psi with a clover term A.
template <typename Precise>
void TrueResidual<Precise>::subtract_diagonal(int parity) {
  const Coefficients& coefficients = options_.coefficients;
  const SpinorView<Double> psi = psi_.of[parity].view();
  if (!coefficients.has_clover()) {
    queue_add_scaled(bulk(), slab(), one_, for_all_sides(-1), psi, eta_.view());
    return;
  }
  const CloverField<Double> clover(slab());
  queue_clover(bulk(), slab(), parity, options_.model, coefficients.kappa * coefficients.clover, false,
               clover.view(parity));
  queue_apply_clover(bulk(), slab(), one_, clover.view(parity), psi, residual_.view());
  queue_add_scaled(bulk(), slab(), one_, for_all_sides(-1), residual_.view(), eta_.view());
  hop_.streams().bulk.synchronize();  // the term is freed
}

template class TrueResidual<Double>;
template class TrueResidual<Single>;

}  // namespace dslash
