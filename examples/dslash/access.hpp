// Kernels' loads and stores of spinors and links.
#pragma once

#include "examples/dslash/views.hpp"

namespace dslash {

constexpr int spinor_numbers = 24;
constexpr int half_spinor_numbers = 12;

template <Memory memory = Memory::constant, typename Precision>
DSLASH_INLINE Spinor<typename Precision::Real> load_spinor(const SpinorView<Precision>& field, int site) {
  typename Precision::Stored stored[spinor_numbers];
  load_stored<Precision, spinor_numbers, 0, spinor_numbers, memory>(field.data, field.sites, site, stored);
  float unit = 0;
  if constexpr (is_fixed_point<Precision>) {
    const float norm = memory == Memory::constant ? __ldg(field.norms + site) : field.norms[site];
    unit = norm * (1 / fixed_point_one);
  }
  Spinor<typename Precision::Real> spinor;
  DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
    spinor.spin[i / 3][i % 3] = {to_real<Precision>(stored[2 * i], unit),
                                 to_real<Precision>(stored[2 * i + 1], unit)};
  }
  return spinor;
}

template <typename Precision>
DSLASH_INLINE HalfSpinor<typename Precision::Real> half_of(
    const typename Precision::Stored (&stored)[half_spinor_numbers], float norm) {
  const float unit = norm * (1 / fixed_point_one);
  HalfSpinor<typename Precision::Real> half;
  DSLASH_UNROLL for (int i = 0; i < 6; ++i) {
    half.spin[i / 3][i % 3] = {to_real<Precision>(stored[2 * i], unit),
                               to_real<Precision>(stored[2 * i + 1], unit)};
  }
  return half;
}

/// The upper or the lower half of a spinor.
template <typename Precision, bool is_lower>
DSLASH_INLINE HalfSpinor<typename Precision::Real> load_half(const SpinorView<Precision>& field, int site) {
  typename Precision::Stored stored[half_spinor_numbers];
  load_stored<Precision, spinor_numbers, is_lower ? half_spinor_numbers : 0>(field.data, field.sites, site,
                                                                             stored);
  float norm = 0;
  if constexpr (is_fixed_point<Precision>) {
    norm = __ldg(field.norms + site);
  }
  return half_of<Precision>(stored, norm);
}

/// Of a face that another GPU may have written since the kernel started.
template <typename Precision>
DSLASH_INLINE HalfSpinor<typename Precision::Real> load_ghost(const FaceView<Precision>& face, int face_sites,
                                                              int item) {
  typename Precision::Stored stored[half_spinor_numbers];
  load_stored<Precision, half_spinor_numbers, 0, half_spinor_numbers, Memory::changing>(face.data, face_sites,
                                                                                        item, stored);
  float norm = 0;
  if constexpr (is_fixed_point<Precision>) {
    norm = face.norms[item];
  }
  return half_of<Precision>(stored, norm);
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

/// Links' numbers are 1 at most, so that fixed point needs no norm.
template <typename Precision, int rows>
DSLASH_INLINE Link<typename Precision::Real> load_link(const std::byte* block, int stride, int item) {
  typename Precision::Stored stored[6 * rows];
  load_stored<Precision, 6 * rows, 0>(block, stride, item, stored);
  Link<typename Precision::Real> link;
  DSLASH_UNROLL for (int i = 0; i < 3 * rows; ++i) {
    link.row[i / 3][i % 3] = {to_real<Precision>(stored[2 * i], 1 / fixed_point_one),
                              to_real<Precision>(stored[2 * i + 1], 1 / fixed_point_one)};
  }
  if constexpr (rows == 2) {
    complete(link);
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
