// The clover term at a site, in double precision: A = 1 + i kappa c sum over mu < nu of sigma_mu_nu F_mu_nu,
// with F from the four plaquettes around the site. gamma_5 swaps the halves of a spinor, so A acts on their
// sum and on their difference by a hermitian matrix of 6 x 6 each:
// A_s = 1 + i kappa c sum_k sigma_k (s E_k − B_k), s = ±1, E_k = F_k4, B_1 = F_23, ...
#pragma once

#include "examples/dslash/model.hpp"

namespace dslash {

constexpr int block_size = 6;
/// Of a block: 6 numbers of the diagonal, then 15 complex ones below it, row by row.
constexpr int block_numbers = 36;
constexpr int clover_numbers = 2 * block_numbers;

/// A hermitian matrix; first the spin, then the colour: index 3 spin + colour.
struct CloverBlock {
  Complex<double> element[block_size][block_size];
};

/// Steps back are steps along the link of the site behind, adjoint.
EXAMPLE_HOST_DEVICE inline Site moved(const Lattice& lattice, Site site, int direction, bool is_forward) {
  if (is_forward) {
    return forward(lattice, site, direction);
  }
  int* const coordinates[] = {&site.x, &site.y, &site.z, &site.t};
  const int extents[] = {lattice.x, lattice.y, lattice.z, lattice.t};
  int& coordinate = *coordinates[direction];
  coordinate = coordinate == 0 ? extents[direction] - 1 : coordinate - 1;
  return site;
}

/// path U, and the site where it leads.
EXAMPLE_HOST_DEVICE inline void walk(const Model& model, Site& site, Link<double>& path, int direction,
                                     bool is_forward) {
  const Site next = moved(model.lattice, site, direction, is_forward);
  path = product(path, link_of(model, is_forward ? site : next, direction), !is_forward);
  site = next;
}

/// (Q − Q^dagger) / 8 without its trace; Q is the sum of the four plaquettes in the plane of mu and nu that
/// start at the site, all turning the same way.
EXAMPLE_HOST_DEVICE inline Link<double> field_strength(const Model& model, Site site, int mu, int nu) {
  Link<double> sum{};
  for (int leaf = 0; leaf < 4; ++leaf) {
    // mu nu, nu −mu, −mu −nu, −nu mu: each turns left
    const int first = leaf % 2 == 0 ? mu : nu;
    const int second = leaf % 2 == 0 ? nu : mu;
    const bool first_is_forward = leaf < 2;
    const bool second_is_forward = leaf == 0 || leaf == 3;
    Link<double> path{};
    for (int i = 0; i < 3; ++i) {
      path.row[i][i] = {1, 0};
    }
    Site at = site;
    walk(model, at, path, first, first_is_forward);
    walk(model, at, path, second, second_is_forward);
    walk(model, at, path, first, !first_is_forward);
    walk(model, at, path, second, !second_is_forward);
    for (int i = 0; i < 9; ++i) {
      sum.row[i / 3][i % 3] = sum.row[i / 3][i % 3] + path.row[i / 3][i % 3];
    }
  }
  Link<double> strength;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      strength.row[row][column] = scaled(0.125, sum.row[row][column] - conjugate(sum.row[column][row]));
    }
  }
  const double trace = (strength.row[0][0].im + strength.row[1][1].im + strength.row[2][2].im) / 3;
  for (int i = 0; i < 3; ++i) {
    strength.row[i][i].im -= trace;
  }
  return strength;
}

/// Both blocks: of the halves' sum, and of their difference. `weight` is kappa c.
EXAMPLE_HOST_DEVICE inline void clover_term(const Model& model, Site site, double weight,
                                            CloverBlock (&blocks)[2]) {
  for (auto& block : blocks) {
    for (int i = 0; i < block_size * block_size; ++i) {
      block.element[i / block_size][i % block_size] = {i % (block_size + 1) == 0 ? 1.0 : 0.0, 0};
    }
  }
  for (int k = 0; k < 3; ++k) {
    const Link<double> magnetic = field_strength(model, site, (k + 1) % 3, (k + 2) % 3);
    const Link<double> electric = field_strength(model, site, k, time_direction);
    for (int chirality = 0; chirality < 2; ++chirality) {
      for (int i = 0; i < 9; ++i) {
        const int row = i / 3;
        const int column = i % 3;
        const Complex<double> e =
            chirality == 0 ? electric.row[row][column] : scaled(-1.0, electric.row[row][column]);
        const Complex<double> number = times_i(scaled(weight, e - magnetic.row[row][column]));
        auto& element = blocks[chirality].element;
        if (k == 2) {
          element[row][column] = element[row][column] + number;
          element[3 + row][3 + column] = element[3 + row][3 + column] - number;
        } else {
          // sigma_1 = ((0, 1), (1, 0)), sigma_2 = ((0, −i), (i, 0))
          const Complex<double> lower = k == 0 ? number : times_i(number);
          const Complex<double> upper = k == 0 ? number : scaled(-1.0, lower);
          element[row][3 + column] = element[row][3 + column] + upper;
          element[3 + row][column] = element[3 + row][column] + lower;
        }
      }
    }
  }
}

/// Of a hermitian block, by Gauss and Jordan: near 1 as it is, its diagonal needs no pivot.
EXAMPLE_HOST_DEVICE inline void invert(CloverBlock& block) {
  auto& a = block.element;
  for (int pivot = 0; pivot < block_size; ++pivot) {
    const double inverse = 1 / a[pivot][pivot].re;
    a[pivot][pivot] = {1, 0};
    for (int column = 0; column < block_size; ++column) {
      a[pivot][column] = scaled(inverse, a[pivot][column]);
    }
    for (int row = 0; row < block_size; ++row) {
      if (row != pivot) {
        const Complex<double> factor = a[row][pivot];
        a[row][pivot] = {0, 0};
        for (int column = 0; column < block_size; ++column) {
          a[row][column] = a[row][column] - factor * a[pivot][column];
        }
      }
    }
  }
}

/// As it is stored, with a factor of 1/2: two halves' sum and difference give twice the spinor.
EXAMPLE_HOST_DEVICE inline void stored_numbers(const CloverBlock& block, double* numbers) {
  int at = block_size;
  for (int row = 0; row < block_size; ++row) {
    numbers[row] = block.element[row][row].re / 2;
    for (int column = 0; column < row; ++column) {
      numbers[at++] = block.element[row][column].re / 2;
      numbers[at++] = block.element[row][column].im / 2;
    }
  }
}

}  // namespace dslash
