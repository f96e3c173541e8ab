// What the solver's kernels do at a site. For .cu files only.
#pragma once

#include "examples/dslash/site_kernels.hpp"

namespace dslash {

/// Of a field that the same kernel may write.
template <typename Precision>
DSLASH_INLINE Spinor<typename Precision::Real> load_own(const SpinorView<Precision>& field, int site) {
  return load_spinor<Memory::changing>(field, site);
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
Complex<typename Precision::Real> as_complex(std::complex<double> number) {
  using Real = typename Precision::Real;
  return {static_cast<Real>(number.real()), static_cast<Real>(number.imag())};
}

template <typename Precision>
struct Dot {
  static constexpr int sums = 2;
  SpinorView<Precision> a;
  SpinorView<Precision> b;
  __device__ void operator()(int site, double* into) const {
    add_dot(load_own(a, site), load_own(b, site), into);
  }
};

template <typename Precision>
struct DotAndNorm {
  static constexpr int sums = 3;
  SpinorView<Precision> a;
  SpinorView<Precision> b;
  __device__ void operator()(int site, double* into) const {
    const auto left = load_own(a, site);
    add_dot(left, load_own(b, site), into);
    add_norm(left, into[2]);
  }
};

template <typename Precision>
struct Norm {
  static constexpr int sums = 1;
  SpinorView<Precision> a;
  __device__ void operator()(int site, double* into) const { add_norm(load_own(a, site), into[0]); }
};

template <typename Precision>
struct AddScaled {
  static constexpr int sums = 0;
  Complex<typename Precision::Real> scale;
  SpinorView<Precision> x;
  SpinorView<Precision> y;
  __device__ void operator()(int site, double* /*into*/) const {
    auto sum = load_own(y, site);
    add_scaled(scale, load_own(x, site), sum);
    store_spinor(y, site, sum);
  }
};

template <typename Precision>
struct SolutionUpdate {
  static constexpr int sums = 3;
  Complex<typename Precision::Real> alpha;
  Complex<typename Precision::Real> omega;
  Complex<typename Precision::Real> minus_omega;
  SolutionStep<Precision> step;
  __device__ void operator()(int site, double* into) const {
    auto residual = load_own(step.r, site);
    auto solution = load_own(step.x, site);
    add_scaled(alpha, load_own(step.p, site), solution);
    add_scaled(omega, residual, solution);
    add_scaled(minus_omega, load_own(step.t, site), residual);
    add_dot(load_own(step.r0, site), residual, into);
    add_norm(residual, into[2]);
    store_spinor(step.x, site, solution);
    store_spinor(step.r, site, residual);
  }
};

template <typename Precision>
struct DirectionUpdate {
  static constexpr int sums = 0;
  Complex<typename Precision::Real> beta;
  Complex<typename Precision::Real> minus_omega;
  SpinorView<Precision> r;
  SpinorView<Precision> v;
  SpinorView<Precision> p;
  __device__ void operator()(int site, double* /*into*/) const {
    auto before = load_own(p, site);
    add_scaled(minus_omega, load_own(v, site), before);
    auto direction = load_own(r, site);
    add_scaled(beta, before, direction);
    store_spinor(p, site, direction);
  }
};

template <typename To, typename From, bool adds>
struct Convert {
  static constexpr int sums = 0;
  SpinorView<From> from;
  SpinorView<To> to;
  __device__ void operator()(int site, double* /*into*/) const {
    using Real = typename To::Real;
    auto result = converted<Real>(load_own(from, site));
    if constexpr (adds) {
      add_scaled(Complex<Real>{1, 0}, load_own(to, site), result);
    }
    store_spinor(to, site, result);
  }
};

template <typename Precision>
struct Source {
  static constexpr int sums = 0;
  Slab slab;
  int parity;
  Model model;
  SpinorView<Precision> out;
  __device__ void operator()(int site, double* /*into*/) const {
    store_spinor(out, site, converted<typename Precision::Real>(source_of(model, slab.site(parity, site))));
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
  __device__ void operator()(int site, double* /*into*/) const {
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
  __device__ void operator()(int site, double* /*into*/) const {
    auto psi = load_own(in, site);
    multiply_by_clover(clover, site, psi);
    store_spinor(out, site, psi);
  }
};

template <typename Precision>
struct Import {
  static constexpr int sums = 0;
  const double* plain;
  SpinorView<Precision> out;
  __device__ void operator()(int site, double* /*into*/) const {
    Spinor<typename Precision::Real> spinor;
    for (int i = 0; i < 12; ++i) {
      const double* const number = plain + (std::int64_t{site} * 12 + i) * 2;
      spinor.spin[i / 3][i % 3] = {static_cast<typename Precision::Real>(number[0]),
                                   static_cast<typename Precision::Real>(number[1])};
    }
    store_spinor(out, site, spinor);
  }
};

template <typename Precision>
struct Export {
  static constexpr int sums = 0;
  SpinorView<Precision> in;
  double* plain;
  __device__ void operator()(int site, double* /*into*/) const {
    const auto spinor = load_own(in, site);
    for (int i = 0; i < 12; ++i) {
      double* const number = plain + (std::int64_t{site} * 12 + i) * 2;
      number[0] = spinor.spin[i / 3][i % 3].re;
      number[1] = spinor.spin[i / 3][i % 3].im;
    }
  }
};

}  // namespace dslash
