#include "examples/dslash/reference.hpp"

#include <cmath>

namespace dslash {
namespace {

using Number = std::complex<double>;
constexpr Number i_unit{0, 1};

Matrix4 times(const Matrix4& a, const Matrix4& b) {
  Matrix4 product{};
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      for (std::size_t k = 0; k < 4; ++k) {
        product[row][column] += a[row][k] * b[k][column];
      }
    }
  }
  return product;
}

/// ((0, i sigma), (−i sigma, 0))
Matrix4 off_diagonal(const std::array<std::array<Number, 2>, 2>& sigma) {
  Matrix4 matrix{};
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t column = 0; column < 2; ++column) {
      matrix[row][2 + column] = i_unit * sigma[row][column];
      matrix[2 + row][column] = -i_unit * sigma[row][column];
    }
  }
  return matrix;
}

std::array<Matrix4, 5> make_gammas() {
  std::array<Matrix4, 5> all{};
  all[0] = off_diagonal({{{0, 1}, {1, 0}}});
  all[1] = off_diagonal({{{0, -i_unit}, {i_unit, 0}}});
  all[2] = off_diagonal({{{1, 0}, {0, -1}}});
  for (std::size_t spin = 0; spin < 4; ++spin) {
    all[3][spin][spin] = spin < 2 ? 1 : -1;
  }
  all[4] = times(times(all[0], all[1]), times(all[2], all[3]));
  return all;
}

std::size_t wrapped(int coordinate, int extent) {
  return static_cast<std::size_t>((coordinate % extent + extent) % extent);
}

void add_scaled(double factor, const HostField& addend, HostField& sum) {
  for (std::size_t site = 0; site < sum.size(); ++site) {
    for (std::size_t i = 0; i < 12; ++i) {
      sum[site][i / 3][i % 3] += factor * addend[site][i / 3][i % 3];
    }
  }
}

}  // namespace

std::size_t place(const Lattice& lattice, std::array<int, 4> at) {
  const auto x = static_cast<std::size_t>(lattice.x);
  const auto y = static_cast<std::size_t>(lattice.y);
  const auto z = static_cast<std::size_t>(lattice.z);
  return wrapped(at[0], lattice.x) +
         x * (wrapped(at[1], lattice.y) + y * (wrapped(at[2], lattice.z) + z * wrapped(at[3], lattice.t)));
}

void for_each_site(const Lattice& lattice, const std::function<void(std::array<int, 4>)>& call) {
  for (int t = 0; t < lattice.t; ++t) {
    for (int z = 0; z < lattice.z; ++z) {
      for (int y = 0; y < lattice.y; ++y) {
        for (int x = 0; x < lattice.x; ++x) {
          call({x, y, z, t});
        }
      }
    }
  }
}

const std::array<Matrix4, 5>& gammas() {
  static const std::array<Matrix4, 5> all = make_gammas();
  return all;
}

Reference::Reference(const Model& model, const Coefficients& coefficients)
    : model_(model), coefficients_(coefficients), links_(static_cast<std::size_t>(model.lattice.sites())) {
  for_each_site(model_.lattice, [&](std::array<int, 4> at) {
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const Link<double> link = link_of(model_, {at[0], at[1], at[2], at[3]}, static_cast<int>(mu));
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
          links_[place(model_.lattice, at)][mu][row][column] = {link.row[row][column].re,
                                                                link.row[row][column].im};
        }
      }
    }
  });
}

HostField Reference::source() const {
  HostField field(static_cast<std::size_t>(model_.lattice.sites()));
  for_each_site(model_.lattice, [&](std::array<int, 4> at) {
    const Spinor<double> source = source_of(model_, {at[0], at[1], at[2], at[3]});
    for (std::size_t spin = 0; spin < 4; ++spin) {
      for (std::size_t colour = 0; colour < 3; ++colour) {
        field[place(model_.lattice, at)][spin][colour] = {source.spin[spin][colour].re,
                                                          source.spin[spin][colour].im};
      }
    }
  });
  return field;
}

HostField Reference::hop(const HostField& psi) const {
  const Lattice& lattice = model_.lattice;
  HostField out(psi.size());
  for_each_site(lattice, [&](std::array<int, 4> at) {
    HostSpinor sum{};
    for (std::size_t mu = 0; mu < 4; ++mu) {
      for (const int step : {1, -1}) {
        std::array<int, 4> next = at;
        next[mu] += step;
        double weight = mu < 3 ? 1 / coefficients_.anisotropy : 1;
        if (mu == 3 && coefficients_.is_antiperiodic && (next[3] < 0 || next[3] >= lattice.t)) {
          weight = -weight;
        }
        const Matrix3& link = links_[place(lattice, step > 0 ? at : next)][mu];
        const HostSpinor& neighbour = psi[place(lattice, next)];
        HostSpinor moved{};
        for (std::size_t spin = 0; spin < 4; ++spin) {
          for (std::size_t row = 0; row < 3; ++row) {
            for (std::size_t column = 0; column < 3; ++column) {
              const Number element = step > 0 ? link[row][column] : std::conj(link[column][row]);
              moved[spin][row] += element * neighbour[spin][column];
            }
          }
        }
        for (std::size_t row = 0; row < 4; ++row) {
          for (std::size_t column = 0; column < 4; ++column) {
            const Number projector = (row == column ? 1.0 : 0.0) - double(step) * gammas()[mu][row][column];
            if (projector != 0.0) {
              for (std::size_t colour = 0; colour < 3; ++colour) {
                sum[row][colour] += weight * projector * moved[column][colour];
              }
            }
          }
        }
      }
    }
    out[place(lattice, at)] = sum;
  });
  return out;
}

/// (Q − Q^dagger) / 8 without its trace; Q sums the plaquettes that start at the site, along the four pairs
/// of directions that turn from mu to nu.
Reference::Matrix3 Reference::field_strength(std::array<int, 4> at, std::size_t mu, std::size_t nu) const {
  struct Step {
    std::size_t direction;
    int sign;
  };
  const std::array<std::array<Step, 4>, 4> leaves{{{{{mu, 1}, {nu, 1}, {mu, -1}, {nu, -1}}},
                                                   {{{nu, 1}, {mu, -1}, {nu, -1}, {mu, 1}}},
                                                   {{{mu, -1}, {nu, -1}, {mu, 1}, {nu, 1}}},
                                                   {{{nu, -1}, {mu, 1}, {nu, 1}, {mu, -1}}}}};
  Matrix3 sum{};
  for (const auto& leaf : leaves) {
    Matrix3 path{};
    path[0][0] = path[1][1] = path[2][2] = 1;
    std::array<int, 4> here = at;
    for (const auto& [direction, sign] : leaf) {
      std::array<int, 4> next = here;
      next[direction] += sign;
      const Matrix3& link = links_[place(model_.lattice, sign > 0 ? here : next)][direction];
      Matrix3 longer{};
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
          for (std::size_t k = 0; k < 3; ++k) {
            longer[row][column] += path[row][k] * (sign > 0 ? link[k][column] : std::conj(link[column][k]));
          }
        }
      }
      path = longer;
      here = next;
    }
    for (std::size_t i = 0; i < 9; ++i) {
      sum[i / 3][i % 3] += path[i / 3][i % 3];
    }
  }
  Matrix3 strength{};
  for (std::size_t i = 0; i < 9; ++i) {
    strength[i / 3][i % 3] = (sum[i / 3][i % 3] - std::conj(sum[i % 3][i / 3])) / 8.0;
  }
  const Number third = (strength[0][0] + strength[1][1] + strength[2][2]) / 3.0;
  for (std::size_t i = 0; i < 3; ++i) {
    strength[i][i] -= third;
  }
  return strength;
}

/// 1 + i kappa c sum over mu < nu of sigma_mu_nu F_mu_nu, sigma_mu_nu = i/2 [gamma_mu, gamma_nu]
Reference::Matrix12 Reference::clover(std::array<int, 4> at) const {
  Matrix12 matrix{};
  for (std::size_t i = 0; i < 12; ++i) {
    matrix[i][i] = 1;
  }
  const Number weight = i_unit * coefficients_.kappa * coefficients_.clover;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    for (std::size_t nu = mu + 1; nu < 4; ++nu) {
      const Matrix4 product = times(gammas()[mu], gammas()[nu]);
      const Matrix4 reversed = times(gammas()[nu], gammas()[mu]);
      const Matrix3 strength = field_strength(at, mu, nu);
      for (std::size_t i = 0; i < 144; ++i) {
        const std::size_t row = i / 12;
        const std::size_t column = i % 12;
        const Number sigma = i_unit / 2.0 * (product[row / 3][column / 3] - reversed[row / 3][column / 3]);
        matrix[row][column] += weight * sigma * strength[row % 3][column % 3];
      }
    }
  }
  return matrix;
}

HostField Reference::diagonal(const HostField& psi, bool is_inverse) const {
  if (!coefficients_.has_clover()) {
    return psi;
  }
  HostField out(psi.size());
  for_each_site(model_.lattice, [&](std::array<int, 4> at) {
    Matrix12 matrix = clover(at);
    const HostSpinor& in = psi[place(model_.lattice, at)];
    std::array<Number, 12> result{};
    for (std::size_t i = 0; i < 12; ++i) {
      result[i] = in[i / 3][i % 3];
    }
    if (is_inverse) {  // Gauss: solves for it
      for (std::size_t pivot = 0; pivot < 12; ++pivot) {
        for (std::size_t row = 0; row < 12; ++row) {
          if (row != pivot) {
            const Number factor = matrix[row][pivot] / matrix[pivot][pivot];
            for (std::size_t column = pivot; column < 12; ++column) {
              matrix[row][column] -= factor * matrix[pivot][column];
            }
            result[row] -= factor * result[pivot];
          }
        }
      }
      for (std::size_t i = 0; i < 12; ++i) {
        result[i] /= matrix[i][i];
      }
    } else {
      const std::array<Number, 12> before = result;
      for (std::size_t row = 0; row < 12; ++row) {
        result[row] = 0;
        for (std::size_t column = 0; column < 12; ++column) {
          result[row] += matrix[row][column] * before[column];
        }
      }
    }
    for (std::size_t i = 0; i < 12; ++i) {
      out[place(model_.lattice, at)][i / 3][i % 3] = result[i];
    }
  });
  return out;
}

HostField Reference::wilson(const HostField& psi) const {
  HostField out = diagonal(psi, false);
  add_scaled(-coefficients_.kappa, hop(psi), out);
  return out;
}

HostField Reference::even_odd(const HostField& psi) const {
  HostField out = psi;
  const double square = coefficients_.kappa * coefficients_.kappa;
  add_scaled(-square, diagonal(hop(diagonal(hop(psi), true)), true), out);
  return out;
}

}  // namespace dslash
