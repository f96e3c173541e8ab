// Kernels' loads and stores of spinors and links.
#pragma once

#include "examples/dslash/clover.hpp"
#include "examples/dslash/views.hpp"

namespace dslash {

constexpr int spinor_numbers = 24;
constexpr int half_spinor_numbers = 12;

/// What 1 of a fixed point number stands for, where the largest stands for 1.
constexpr float fixed_point_unit = 1 / fixed_point_one;

/// A spinor's norm; 1 where numbers have none.
template <typename Precision, Memory memory = Memory::constant>
DSLASH_INLINE float load_norm([[maybe_unused]] const float* norms, [[maybe_unused]] int item) {
  if constexpr (is_fixed_point<Precision>) {
    return memory == Memory::constant ? __ldg(norms + item) : norms[item];
  } else {
    return 1;
  }
}

/// Numbers as they are stored, as real ones: not multiplied by their unit.
template <Memory memory = Memory::constant, typename Precision>
DSLASH_INLINE Spinor<typename Precision::Real> load_raw_spinor(const SpinorView<Precision>& field, int site) {
  using Real = typename Precision::Real;
  typename Precision::Stored stored[spinor_numbers];
  load_stored<Precision, spinor_numbers, 0, spinor_numbers, memory>(field.data, field.sites, site, stored);
  Spinor<Real> spinor;
  DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
    spinor.spin[i / 3][i % 3] = {static_cast<Real>(stored[2 * i]), static_cast<Real>(stored[2 * i + 1])};
  }
  return spinor;
}

template <Memory memory = Memory::constant, typename Precision>
DSLASH_INLINE Spinor<typename Precision::Real> load_spinor(const SpinorView<Precision>& field, int site) {
  Spinor<typename Precision::Real> spinor = load_raw_spinor<memory>(field, site);
  if constexpr (is_fixed_point<Precision>) {
    const float unit = load_norm<Precision, memory>(field.norms, site) * fixed_point_unit;
    DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
      spinor.spin[i / 3][i % 3] = scaled(unit, spinor.spin[i / 3][i % 3]);
    }
  }
  return spinor;
}

/// So many numbers, from number `first` on, of items of `reals` each, as half a spinor; not multiplied
/// either.
template <typename Precision, int reals, int first, Memory memory>
DSLASH_INLINE HalfSpinor<typename Precision::Real> load_raw_half(const std::byte* items, std::int64_t stride,
                                                                 int item) {
  using Real = typename Precision::Real;
  typename Precision::Stored stored[half_spinor_numbers];
  load_stored<Precision, reals, first, half_spinor_numbers, memory>(items, stride, item, stored);
  HalfSpinor<Real> half;
  DSLASH_UNROLL for (int i = 0; i < 6; ++i) {
    half.spin[i / 3][i % 3] = {static_cast<Real>(stored[2 * i]), static_cast<Real>(stored[2 * i + 1])};
  }
  return half;
}

template <typename Precision>
DSLASH_INLINE void store_spinor(const SpinorView<Precision>& field, int site,
                                const Spinor<typename Precision::Real>& spinor) {
  typename Precision::Stored stored[spinor_numbers];
  if constexpr (is_fixed_point<Precision>) {
    float norm = 0;
    DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
      const Complex<float> number = spinor.spin[i / 3][i % 3];
      norm = fmaxf(norm, fmaxf(fabsf(number.re), fabsf(number.im)));
    }
    const float scale = norm > 0 ? fixed_point_one / norm : 0;
    DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
      stored[2 * i] = to_fixed_point(spinor.spin[i / 3][i % 3].re * scale);
      stored[2 * i + 1] = to_fixed_point(spinor.spin[i / 3][i % 3].im * scale);
    }
    field.norms[site] = norm;
  } else {
    DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
      stored[2 * i] = spinor.spin[i / 3][i % 3].re;
      stored[2 * i + 1] = spinor.spin[i / 3][i % 3].im;
    }
  }
  store_stored<Precision, spinor_numbers>(field.data, field.sites, site, stored);
}

/// Links' numbers are 1 at most, so that fixed point needs no norm. Not multiplied by their unit.
template <typename Precision, int rows>
DSLASH_INLINE Link<typename Precision::Real> load_raw_link(const std::byte* block, int stride, int item) {
  using Real = typename Precision::Real;
  typename Precision::Stored stored[6 * rows];
  load_stored<Precision, 6 * rows, 0>(block, stride, item, stored);
  Link<Real> link;
  DSLASH_UNROLL for (int i = 0; i < 3 * rows; ++i) {
    link.row[i / 3][i % 3] = {static_cast<Real>(stored[2 * i]), static_cast<Real>(stored[2 * i + 1])};
  }
  if constexpr (rows == 2) {
    complete(link, is_fixed_point<Precision> ? static_cast<Real>(fixed_point_unit) : Real{1});
  }
  return link;
}

template <typename Precision, int rows>
DSLASH_INLINE void store_link(std::byte* block, int stride, int item, const Link<double>& link) {
  using Stored = typename Precision::Stored;
  Stored stored[6 * rows];
  const auto convert = [](double number) {
    if constexpr (is_fixed_point<Precision>) {
      return to_fixed_point(static_cast<float>(number) * fixed_point_one);
    } else {
      return static_cast<Stored>(number);
    }
  };
  for (int i = 0; i < 3 * rows; ++i) {
    stored[2 * i] = convert(link.row[i / 3][i % 3].re);
    stored[2 * i + 1] = convert(link.row[i / 3][i % 3].im);
  }
  store_stored<Precision, 6 * rows>(block, stride, item, stored);
}

/// One block times half a spinor.
template <typename Precision, int chirality>
DSLASH_INLINE HalfSpinor<typename Precision::Real> multiply_by_block(
    const CloverView<Precision>& clover, int site, typename Precision::Real unit,
    const HalfSpinor<typename Precision::Real>& half) {
  using Real = typename Precision::Real;
  typename Precision::Stored stored[block_numbers];
  load_stored<Precision, clover_numbers, chirality * block_numbers>(clover.data, clover.sites, site, stored);
  Complex<Real> product[block_size];
  DSLASH_UNROLL for (int row = 0; row < block_size; ++row) {
    product[row] = scaled(static_cast<Real>(stored[row]), half.spin[row / 3][row % 3]);
  }
  DSLASH_UNROLL for (int row = 1; row < block_size; ++row) {
    DSLASH_UNROLL for (int column = 0; column < row; ++column) {
      const int at = block_size + row * (row - 1) + 2 * column;
      const Complex<Real> element{static_cast<Real>(stored[at]), static_cast<Real>(stored[at + 1])};
      product[row] = multiply_add(element, half.spin[column / 3][column % 3], product[row]);
      product[column] = conjugate_multiply_add(element, half.spin[row / 3][row % 3], product[column]);
    }
  }
  HalfSpinor<Real> result;
  DSLASH_UNROLL for (int row = 0; row < block_size; ++row) {
    result.spin[row / 3][row % 3] = is_fixed_point<Precision> ? scaled(unit, product[row]) : product[row];
  }
  return result;
}

/// The clover term times a spinor: its blocks act on the sum and on the difference of the spinor's halves.
template <typename Precision>
DSLASH_INLINE void multiply_by_clover(const CloverView<Precision>& clover, int site,
                                      Spinor<typename Precision::Real>& psi) {
  using Real = typename Precision::Real;
  const auto unit = static_cast<Real>(load_norm<Precision>(clover.norms, site) * fixed_point_unit);
  HalfSpinor<Real> sum;
  HalfSpinor<Real> difference;
  DSLASH_UNROLL for (int i = 0; i < 6; ++i) {
    const Complex<Real> upper = psi.spin[i / 3][i % 3];
    const Complex<Real> lower = psi.spin[2 + i / 3][i % 3];
    sum.spin[i / 3][i % 3] = upper + lower;
    difference.spin[i / 3][i % 3] = upper - lower;
  }
  sum = multiply_by_block<Precision, 0>(clover, site, unit, sum);
  difference = multiply_by_block<Precision, 1>(clover, site, unit, difference);
  DSLASH_UNROLL for (int i = 0; i < 6; ++i) {
    psi.spin[i / 3][i % 3] = sum.spin[i / 3][i % 3] + difference.spin[i / 3][i % 3];
    psi.spin[2 + i / 3][i % 3] = sum.spin[i / 3][i % 3] - difference.spin[i / 3][i % 3];
  }
}

template <typename Precision>
DSLASH_INLINE void store_clover(const CloverView<Precision>& clover, int site,
                                const double (&numbers)[clover_numbers]) {
  using Stored = typename Precision::Stored;
  Stored stored[clover_numbers];
  double norm = 0;
  for (const double number : numbers) {
    norm = fmax(norm, fabs(number));
  }
  for (int i = 0; i < clover_numbers; ++i) {
    if constexpr (is_fixed_point<Precision>) {
      stored[i] = to_fixed_point(static_cast<float>(numbers[i] / norm) * fixed_point_one);
    } else {
      stored[i] = static_cast<Stored>(numbers[i]);
    }
  }
  if constexpr (is_fixed_point<Precision>) {
    clover.norms[site] = static_cast<float>(norm);
  }
  store_stored<Precision, clover_numbers>(clover.data, clover.sites, site, stored);
}

template <typename To, typename From>
DSLASH_INLINE Spinor<To> converted(const Spinor<From>& from) {
  Spinor<To> to;
  DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
    to.spin[i / 3][i % 3] = {static_cast<To>(from.spin[i / 3][i % 3].re),
                             static_cast<To>(from.spin[i / 3][i % 3].im)};
  }
  return to;
}

}  // namespace dslash
