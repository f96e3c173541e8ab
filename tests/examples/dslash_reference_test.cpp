// The host's operator, which is what the kernels are compared with, against what is known of it.
#include "examples/dslash/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "examples/dslash/theory.hpp"

namespace dslash {
namespace {

constexpr Lattice small{4, 2, 6, 4};

double largest_difference(const Matrix4& a, const Matrix4& b) {
  double largest = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      largest = std::max(largest, std::abs(a[row][column] - b[row][column]));
    }
  }
  return largest;
}

Matrix4 anticommutator(const Matrix4& a, const Matrix4& b) {
  Matrix4 sum{};
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      for (std::size_t k = 0; k < 4; ++k) {
        sum[row][column] += a[row][k] * b[k][column] + b[row][k] * a[k][column];
      }
    }
  }
  return sum;
}

TEST(DslashGammas, obey_their_algebra_and_the_fourth_is_diagonal) {
  for (std::size_t mu = 0; mu < 5; ++mu) {
    for (std::size_t nu = 0; nu < 5; ++nu) {
      Matrix4 expected{};
      for (std::size_t spin = 0; spin < 4; ++spin) {
        expected[spin][spin] = mu == nu ? 2 : 0;
      }
      EXPECT_EQ(largest_difference(anticommutator(gammas()[mu], gammas()[nu]), expected), 0) << mu << nu;
    }
  }
  for (std::size_t spin = 0; spin < 4; ++spin) {
    EXPECT_EQ(gammas()[3][spin][spin], spin < 2 ? 1.0 : -1.0);
  }
}

TEST(DslashReference, has_plane_waves_as_the_free_field_should) {
  for (const bool is_antiperiodic : {true, false}) {
    const Coefficients coefficients{.anisotropy = 2.5, .is_antiperiodic = is_antiperiodic};
    const Model model{.lattice = small, .gauge = Gauge::unit};
    const PlaneWave wave(small, coefficients, {1, 1, -2, 3});
    HostSpinor amplitude{};
    amplitude[0][1] = {0.5, 1};
    amplitude[2][1] = {-2, 0.25};
    amplitude[3][2] = 1;
    const HostField result = Reference(model, coefficients).hop(wave.field(amplitude));
    const HostField expected = wave.field(wave.hop(amplitude));
    for (std::size_t site = 0; site < result.size(); ++site) {
      for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_LT(std::abs(result[site][i / 3][i % 3] - expected[site][i / 3][i % 3]), 1e-13);
      }
    }
  }
}

TEST(DslashReference, has_a_clover_term_that_is_hermitian_has_no_trace_and_commutes_with_gamma5) {
  const Coefficients coefficients{.kappa = 0.12, .clover = 1.5};
  const Reference reference({.lattice = small, .noise = 0.5}, coefficients);
  const Reference::Matrix12 matrix = reference.clover({1, 0, 5, 3});
  std::complex<double> trace;
  double largest = 0;
  for (std::size_t row = 0; row < 12; ++row) {
    trace += matrix[row][row] - 1.0;
    for (std::size_t column = 0; column < 12; ++column) {
      EXPECT_LT(std::abs(matrix[row][column] - std::conj(matrix[column][row])), 1e-15);
      std::complex<double> commutator;
      for (std::size_t spin = 0; spin < 4; ++spin) {
        commutator += gammas()[4][row / 3][spin] * matrix[3 * spin + row % 3][column] -
                      matrix[row][3 * spin + column % 3] * gammas()[4][spin][column / 3];
      }
      EXPECT_LT(std::abs(commutator), 1e-15);
      largest = std::max(largest, row == column ? 0 : std::abs(matrix[row][column]));
    }
  }
  EXPECT_LT(std::abs(trace), 1e-14);
  EXPECT_GT(largest, 0.01) << "the field is so weak that nothing is tested";
}

TEST(DslashReference, has_a_diagonal_whose_inverse_undoes_it) {
  const Reference reference({.lattice = small, .noise = 0.5}, Coefficients{.kappa = 0.12, .clover = 1.5});
  const HostField source = reference.source();
  const HostField back = reference.diagonal(reference.diagonal(source, false), true);
  for (std::size_t site = 0; site < source.size(); ++site) {
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_LT(std::abs(back[site][i / 3][i % 3] - source[site][i / 3][i % 3]), 1e-14);
    }
  }
}

TEST(DslashModel, has_links_of_su3_that_depend_on_the_global_site_alone) {
  const Model model{.lattice = small, .noise = 0.5};
  for (int direction = 0; direction < dimensions; ++direction) {
    const Link<double> link = link_of(model, {1, 1, 2, 3}, direction);
    const Link<double> square = product(link, link, true);
    for (int i = 0; i < 9; ++i) {
      EXPECT_NEAR(square.row[i / 3][i % 3].re, i % 4 == 0 ? 1 : 0, 1e-15);
      EXPECT_NEAR(square.row[i / 3][i % 3].im, 0, 1e-15);
    }
    const auto cofactor = link.row[1][1] * link.row[2][2] - link.row[1][2] * link.row[2][1];
    EXPECT_NEAR(cofactor.re, link.row[0][0].re, 1e-15);  // in SU(3) a cofactor is the element's conjugate
    EXPECT_NEAR(cofactor.im, -link.row[0][0].im, 1e-15);
  }
}

/// Slab numbers each parity's sites once, and neighbours have the other parity.
TEST(DslashSlab, numbers_all_sites_of_a_parity) {
  const Slab slab = slab_of_rank(small, 1, 2, 1);
  std::vector<int> seen(static_cast<std::size_t>(small.sites()));
  for (int parity = 0; parity < 2; ++parity) {
    for (int index = 0; index < slab.sites(); ++index) {
      const Site site = slab.site(parity, index);
      EXPECT_EQ(parity_of(site), parity);
      EXPECT_GE(site.t, slab.first_slice);
      ++seen[global_index(small, site)];
      for (int direction = 0; direction < dimensions; ++direction) {
        EXPECT_EQ(parity_of(forward(small, site, direction)), 1 - parity);
      }
    }
  }
  for (std::size_t site = 0; site < seen.size(); ++site) {
    EXPECT_EQ(seen[site], site < seen.size() / 2 ? 0 : 1);
  }
}

/// Ranks along z and in time: each site is one rank's.
TEST(DslashSlab, of_all_ranks_have_each_site_once) {
  const Lattice lattice{4, 2, 6, 4};
  std::vector<int> seen(static_cast<std::size_t>(lattice.sites()));
  for (int rank = 0; rank < 4; ++rank) {
    const Slab slab = slab_of_rank(lattice, rank, 4, 2);
    EXPECT_TRUE(slab.is_split_in_time() && slab.is_split_along_z());
    EXPECT_EQ(slab.first_plane, rank % 2 * 3);
    for (int parity = 0; parity < 2; ++parity) {
      for (int index = 0; index < slab.sites(); ++index) {
        EXPECT_EQ(parity_of(slab.site(parity, index)), parity);
        ++seen[global_index(lattice, slab.site(parity, index))];
      }
    }
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
}

}  // namespace
}  // namespace dslash
