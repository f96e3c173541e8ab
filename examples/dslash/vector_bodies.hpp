// What the solver's kernels do at a site. For .cu files only.
#pragma once

#include "examples/dslash/site_kernels.hpp"

namespace dslash {

/// Of a field that the same kernel may write.
template <typename Precision>
DSLASH_INLINE Spinor<typename Precision::Real> load_own(const SpinorView<Precision>& first, int field,
                                                        int site) {
  return load_spinor<Memory::changing>(view_of_field(first, field), site);
}
template <typename Precision>
DSLASH_INLINE void store_own(const SpinorView<Precision>& first, int field, int site,
                             const Spinor<typename Precision::Real>& spinor) {
  store_spinor(view_of_field(first, field), site, spinor);
}

/// A number of each field.
template <typename Precision>
struct Scalars {
  Complex<typename Precision::Real> of[most_sides];
};

template <typename Precision>
[[nodiscard]] Scalars<Precision> rounded(const SideScalars& numbers, double sign = 1) {
  using Real = typename Precision::Real;
  Scalars<Precision> result;
  for (std::size_t field = 0; field < most_sides; ++field) {
    result.of[field] = {static_cast<Real>(sign * numbers[field].real()),
                        static_cast<Real>(sign * numbers[field].imag())};
  }
  return result;
}

template <typename Real>
DSLASH_INLINE void add_dot(const Spinor<Real>& a, const Spinor<Real>& b, double* sums) {
  DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
    const Complex<double> left{a.spin[i / 3][i % 3].re, a.spin[i / 3][i % 3].im};
    const Complex<double> right{b.spin[i / 3][i % 3].re, b.spin[i / 3][i % 3].im};
    const Complex<double> sum = conjugate_multiply_add(left, right, Complex<double>{sums[0], sums[1]});
    sums[0] = sum.re;
    sums[1] = sum.im;
  }
}

template <typename Real>
DSLASH_INLINE void add_norm(const Spinor<Real>& a, double& sum) {
  DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
    const Complex<double> number{a.spin[i / 3][i % 3].re, a.spin[i / 3][i % 3].im};
    sum = multiply_add(number.re, number.re, multiply_add(number.im, number.im, sum));
  }
}

/// scale x + y
template <typename Real>
DSLASH_INLINE void add_scaled(Complex<Real> scale, const Spinor<Real>& x, Spinor<Real>& y) {
  DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
    y.spin[i / 3][i % 3] = multiply_add(scale, x.spin[i / 3][i % 3], y.spin[i / 3][i % 3]);
  }
}

template <typename Precision>
struct Dot {
  static constexpr int sums = 2;
  SpinorView<Precision> a;
  SpinorView<Precision> b;
  __device__ void operator()(int site, int field, double* into) const {
    add_dot(load_own(a, field, site), load_own(b, field, site), into);
  }
};

template <typename Precision>
struct DotAndNorm {
  static constexpr int sums = 3;
  SpinorView<Precision> a;
  SpinorView<Precision> b;
  __device__ void operator()(int site, int field, double* into) const {
    const auto left = load_own(a, field, site);
    add_dot(left, load_own(b, field, site), into);
    add_norm(left, into[2]);
  }
};

template <typename Precision>
struct Norm {
  static constexpr int sums = 1;
  SpinorView<Precision> a;
  __device__ void operator()(int site, int field, double* into) const {
    add_norm(load_own(a, field, site), into[0]);
  }
};

template <typename Precision>
struct Residual {
  static constexpr int sums = 1;
  SpinorView<Precision> source;
  SpinorView<Precision> out;
  __device__ void operator()(int site, int field, double* into) const {
    auto difference = load_own(source, field, site);
    add_scaled(Complex<typename Precision::Real>{-1, 0}, load_own(out, field, site), difference);
    add_norm(difference, into[0]);
    store_own(out, field, site, difference);
  }
};

template <typename Precision>
struct AddScaled {
  static constexpr int sums = 0;
  Scalars<Precision> scale;
  SpinorView<Precision> x;
  SpinorView<Precision> y;
  __device__ void operator()(int site, int field, double* /*into*/) const {
    auto sum = load_own(y, field, site);
    add_scaled(scale.of[field], load_own(x, field, site), sum);
    store_own(y, field, site, sum);
  }
};

template <typename Precision>
struct SolutionUpdate {
  static constexpr int sums = 3;
  Scalars<Precision> alpha;
  Scalars<Precision> omega;
  Scalars<Precision> minus_omega;
  SolutionStep<Precision> step;
  __device__ void operator()(int site, int field, double* into) const {
    auto residual = load_own(step.r, field, site);
    auto solution = load_own(step.x, field, site);
    add_scaled(alpha.of[field], load_own(step.p, field, site), solution);
    add_scaled(omega.of[field], residual, solution);
    add_scaled(minus_omega.of[field], load_own(step.t, field, site), residual);
    add_dot(load_own(step.r0, field, site), residual, into);
    add_norm(residual, into[2]);
    store_own(step.x, field, site, solution);
    store_own(step.r, field, site, residual);
  }
};

template <typename Precision>
struct DirectionUpdate {
  static constexpr int sums = 0;
  Scalars<Precision> beta;
  Scalars<Precision> minus_omega;
  SpinorView<Precision> r;
  SpinorView<Precision> v;
  SpinorView<Precision> p;
  __device__ void operator()(int site, int field, double* /*into*/) const {
    auto before = load_own(p, field, site);
    add_scaled(minus_omega.of[field], load_own(v, field, site), before);
    auto direction = load_own(r, field, site);
    add_scaled(beta.of[field], before, direction);
    store_own(p, field, site, direction);
  }
};

/// gamma_5 swaps the halves of a spinor.
template <typename Precision>
struct Gamma5 {
  static constexpr int sums = 0;
  SpinorView<Precision> in;
  SpinorView<Precision> out;
  __device__ void operator()(int site, int field, double* /*into*/) const {
    const auto psi = load_own(in, field, site);
    Spinor<typename Precision::Real> swapped;
    DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
      swapped.spin[i / 3][i % 3] = psi.spin[(i / 3 + 2) % 4][i % 3];
    }
    store_own(out, field, site, swapped);
  }
};

template <typename To, typename From, bool adds>
struct Convert {
  static constexpr int sums = 0;
  SpinorView<From> from;
  SpinorView<To> to;
  __device__ void operator()(int site, int field, double* /*into*/) const {
    using Real = typename To::Real;
    auto result = converted<Real>(load_own(from, field, site));
    if constexpr (adds) {
      add_scaled(Complex<Real>{1, 0}, load_own(to, field, site), result);
    }
    store_own(to, field, site, result);
  }
};

template <typename Precision>
struct Source {
  static constexpr int sums = 0;
  Slab slab;
  int parity;
  Model model;
  SpinorView<Precision> out;
  __device__ void operator()(int site, int field, double* /*into*/) const {
    store_own(out, field, site,
              converted<typename Precision::Real>(source_of(model, slab.site(parity, site))));
  }
};

/// The clover term, or its inverse.
template <typename Precision>
struct MakeClover {
  static constexpr int sums = 0;
  Slab slab;
  int parity;
  Model model;
  double weight;
  bool is_inverse;
  CloverView<Precision> out;
  __device__ void operator()(int site, int /*field*/, double* /*into*/) const {
    CloverBlock blocks[2];
    clover_term(model, slab.site(parity, site), weight, blocks);
    double numbers[clover_numbers];
    for (int chirality = 0; chirality < 2; ++chirality) {
      if (is_inverse) {
        invert(blocks[chirality]);
      }
      stored_numbers(blocks[chirality], numbers + chirality * block_numbers);
    }
    store_clover(out, site, numbers);
  }
};

template <typename Precision>
struct ApplyClover {
  static constexpr int sums = 0;
  CloverView<Precision> clover;
  SpinorView<Precision> in;
  SpinorView<Precision> out;
  __device__ void operator()(int site, int field, double* /*into*/) const {
    auto psi = load_own(in, field, site);
    multiply_by_clover(clover, site, psi);
    store_own(out, field, site, psi);
  }
};

template <typename Precision>
struct Import {
  static constexpr int sums = 0;
  const double* plain;
  SpinorView<Precision> out;
  __device__ void operator()(int site, int field, double* /*into*/) const {
    Spinor<typename Precision::Real> spinor;
    for (int i = 0; i < 12; ++i) {
      const double* const number = plain + (std::int64_t{site} * 12 + i) * 2;
      spinor.spin[i / 3][i % 3] = {static_cast<typename Precision::Real>(number[0]),
                                   static_cast<typename Precision::Real>(number[1])};
    }
    store_own(out, field, site, spinor);
  }
};

template <typename Precision>
struct Export {
  static constexpr int sums = 0;
  SpinorView<Precision> in;
  double* plain;
  __device__ void operator()(int site, int field, double* /*into*/) const {
    const auto spinor = load_own(in, field, site);
    for (int i = 0; i < 12; ++i) {
      double* const number = plain + (std::int64_t{site} * 12 + i) * 2;
      number[0] = spinor.spin[i / 3][i % 3].re;
      number[1] = spinor.spin[i / 3][i % 3].im;
    }
  }
};

}  // namespace dslash
