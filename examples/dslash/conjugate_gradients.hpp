// Conjugate gradients on the normal equations, M^dagger M x = M^dagger eta, for one right-hand side: slower
// than BiCGstab, but the residual never grows. Starts anew at each reliable update.
#pragma once

#include "examples/dslash/solver.hpp"

namespace dslash {

/// Goes on from `x`. Collective.
template <typename Precise, typename Sloppy>
[[nodiscard]] SolverHistories solve_by_gradients(EvenOddMatrix<Precise>& precise,
                                                 EvenOddMatrix<Sloppy>& sloppy, Sums& sums,
                                                 const SolverOptions& options,
                                                 const SpinorField<Precise>& source,
                                                 const SpinorField<Precise>& x);

/// Spinor fields that it allocates.
template <typename Precise, typename Sloppy>
[[nodiscard]] std::size_t gradients_bytes(const Slab& slab) {
  constexpr std::size_t sloppy_fields = 5 + 3;
  return SpinorField<Precise>::device_bytes(slab) + sloppy_fields * SpinorField<Sloppy>::device_bytes(slab);
}

}  // namespace dslash
