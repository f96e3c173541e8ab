#include "examples/dslash/theory.hpp"

#include <cmath>
#include <numbers>

namespace dslash {
namespace {

constexpr std::complex<double> imaginary_unit{0, 1};

/// sigma = i/2 [gamma, gamma'] = i gamma gamma' of two that differ.
Matrix4 sigma_of(const Matrix4& first, const Matrix4& second) {
  Matrix4 sigma{};
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      for (std::size_t k = 0; k < 4; ++k) {
        sigma[row][column] += imaginary_unit * first[row][k] * second[k][column];
      }
    }
  }
  return sigma;
}

}  // namespace

PlaneWave::PlaneWave(const Lattice& lattice, const Coefficients& coefficients, std::array<int, 4> numbers)
    : lattice_(lattice), coefficients_(coefficients), momentum_{} {
  const std::array<int, 4> extents{lattice.x, lattice.y, lattice.z, lattice.t};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const double shift = mu == 3 && coefficients.is_antiperiodic ? 0.5 : 0;
    momentum_[mu] = 2 * std::numbers::pi * (numbers[mu] + shift) / extents[mu];
  }
}

HostField PlaneWave::field(const HostSpinor& amplitude) const {
  HostField field(static_cast<std::size_t>(lattice_.sites()));
  for_each_site(lattice_, [&](std::array<int, 4> at) {
    double phase = 0;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      phase += momentum_[mu] * at[mu];
    }
    for (std::size_t spin = 0; spin < 4; ++spin) {
      for (std::size_t colour = 0; colour < 3; ++colour) {
        field[place(lattice_, at)][spin][colour] = std::polar(1.0, phase) * amplitude[spin][colour];
      }
    }
  });
  return field;
}

HostSpinor PlaneWave::hop(const HostSpinor& amplitude) const {
  HostSpinor result{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const double weight = mu < 3 ? 1 / coefficients_.anisotropy : 1;
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t column = 0; column < 4; ++column) {
        const std::complex<double> element =
            (row == column ? 2 * std::cos(momentum_[mu]) : 0.0) -
            2.0 * imaginary_unit * gammas()[mu][row][column] * std::sin(momentum_[mu]);
        for (std::size_t colour = 0; colour < 3; ++colour) {
          result[row][colour] += weight * element * amplitude[column][colour];
        }
      }
    }
  }
  return result;
}

HostField clover_of_constant_field(const HostField& psi, const Lattice& lattice,
                                   const Coefficients& coefficients) {
  const double weight = coefficients.kappa * coefficients.clover;
  const double angles[] = {constant_phase(lattice.x, lattice.y), constant_phase(lattice.z, lattice.t)};
  HostField result = psi;
  for (std::size_t plane = 0; plane < 2; ++plane) {
    const Matrix4 sigma = sigma_of(gammas()[2 * plane], gammas()[2 * plane + 1]);
    for (std::size_t site = 0; site < result.size(); ++site) {
      for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
          const std::complex<double> factor = weight * std::sin(angles[plane]) * sigma[row][column];
          result[site][row][0] -= factor * psi[site][column][0];
          result[site][row][1] += factor * psi[site][column][1];
        }
      }
    }
  }
  return result;
}

HostField gauge_transformed(const HostField& psi, const Model& model) {
  HostField result(psi.size());
  for_each_site(model.lattice, [&](std::array<int, 4> at) {
    const Link<double> rotation = transformation_of(model, {at[0], at[1], at[2], at[3]});
    const std::size_t site = place(model.lattice, at);
    for (std::size_t spin = 0; spin < 4; ++spin) {
      for (std::size_t i = 0; i < 9; ++i) {
        const Complex<double> number = rotation.row[i / 3][i % 3];
        result[site][spin][i / 3] += std::complex<double>(number.re, number.im) * psi[site][spin][i % 3];
      }
    }
  });
  return result;
}

}  // namespace dslash
