// What is known of the operator without computing it site by site: free fields, and a constant field
// strength.
#pragma once

#include <array>

#include "examples/dslash/reference.hpp"

namespace dslash {

/// exp(i p x) for momentum numbers n: p = 2 pi n / extent, in time (n + 1/2) if that is antiperiodic.
struct PlaneWave {
  PlaneWave(const Lattice& lattice, const Coefficients& coefficients, std::array<int, 4> numbers);

  [[nodiscard]] HostField field(const HostSpinor& amplitude) const;
  /// What D of unit links makes of the amplitude: sum over mu of w_mu (2 cos p_mu − 2 i gamma_mu sin p_mu).
  [[nodiscard]] HostSpinor hop(const HostSpinor& amplitude) const;

 private:
  Lattice lattice_;
  Coefficients coefficients_;
  std::array<double, 4> momentum_;
};

/// A psi in the constant field: F_12 = i sin(phi) T and F_34 = i sin(psi) T with T = diag(1, −1, 0), so that
/// A = 1 − kappa c (sigma_12 sin(phi) + sigma_34 sin(psi)) T.
[[nodiscard]] HostField clover_of_constant_field(const HostField& psi, const Lattice& lattice,
                                                 const Coefficients& coefficients);

/// Every spinor times the model's gauge transformation at its site.
[[nodiscard]] HostField gauge_transformed(const HostField& psi, const Model& model);

}  // namespace dslash
