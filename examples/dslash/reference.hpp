// The operator in double precision on the host, written from its definition: matrices of gamma, whole links,
// sites in plain order, neighbours by arithmetic modulo the extents. Shares nothing with the kernels but
// where links come from.
#pragma once

#include <array>
#include <complex>
#include <functional>
#include <vector>

#include "examples/dslash/model.hpp"
#include "examples/dslash/settings.hpp"

namespace dslash {

using HostSpinor = std::array<std::array<std::complex<double>, 3>, 4>;
/// Spinors of the whole lattice; x runs fastest, then y, z, t.
using HostField = std::vector<HostSpinor>;

class Reference {
 public:
  Reference(const Model& model, const Coefficients& coefficients);

  /// D psi on all sites.
  [[nodiscard]] HostField hop(const HostField& psi) const;
  /// A psi, or A^-1 psi; without a clover term psi itself.
  [[nodiscard]] HostField diagonal(const HostField& psi, bool is_inverse) const;
  /// (A − kappa D) psi
  [[nodiscard]] HostField wilson(const HostField& psi) const;
  /// (1 − kappa² A^-1 D A^-1 D) psi
  [[nodiscard]] HostField even_odd(const HostField& psi) const;
  /// The clover term at a site: index 3 spin + colour.
  using Matrix12 = std::array<std::array<std::complex<double>, 12>, 12>;
  [[nodiscard]] Matrix12 clover(std::array<int, 4> at) const;
  [[nodiscard]] HostField source() const;

  [[nodiscard]] const Lattice& lattice() const { return model_.lattice; }

 private:
  using Matrix3 = std::array<std::array<std::complex<double>, 3>, 3>;

  [[nodiscard]] Matrix3 field_strength(std::array<int, 4> at, std::size_t mu, std::size_t nu) const;

  Model model_;
  Coefficients coefficients_;
  std::vector<std::array<Matrix3, 4>> links_;
};

/// Calls with the coordinates of each site.
void for_each_site(const Lattice& lattice, const std::function<void(std::array<int, 4>)>& call);
/// Where a site is in a HostField; coordinates may be beyond the lattice's borders.
[[nodiscard]] std::size_t place(const Lattice& lattice, std::array<int, 4> at);

/// gamma_1 … gamma_4, then gamma_5: row, column.
using Matrix4 = std::array<std::array<std::complex<double>, 4>, 4>;
[[nodiscard]] const std::array<Matrix4, 5>& gammas();

}  // namespace dslash
