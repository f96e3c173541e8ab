// Complex numbers, colour and spin. Multiplications are fused with additions only where it is written:
// sources are compiled without further fusing, so that a site gets the same bits in every kernel that updates
// it.
#pragma once

#include <cmath>

#include "examples/support/philox.hpp"

#if defined(__CUDACC__)
#define DSLASH_UNROLL _Pragma("unroll")
#define DSLASH_INLINE __host__ __device__ __forceinline__
#else
#define DSLASH_UNROLL
#define DSLASH_INLINE inline __attribute__((always_inline))
#endif

namespace dslash {

/// a b + c: one instruction on a GPU.
template <typename Real>
DSLASH_INLINE Real multiply_add(Real a, Real b, Real c) {
#if defined(__CUDA_ARCH__)
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

template <typename Real>
struct Complex {
  Real re;
  Real im;
};

template <typename Real>
DSLASH_INLINE Complex<Real> operator+(Complex<Real> a, Complex<Real> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename Real>
DSLASH_INLINE Complex<Real> operator-(Complex<Real> a, Complex<Real> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename Real>
DSLASH_INLINE Complex<Real> operator*(Complex<Real> a, Complex<Real> b) {
  return {multiply_add(a.re, b.re, -(a.im * b.im)), multiply_add(a.re, b.im, a.im * b.re)};
}
/// a b + c
template <typename Real>
DSLASH_INLINE Complex<Real> multiply_add(Complex<Real> a, Complex<Real> b, Complex<Real> c) {
  return {multiply_add(a.re, b.re, multiply_add(-a.im, b.im, c.re)),
          multiply_add(a.re, b.im, multiply_add(a.im, b.re, c.im))};
}
/// conj(a) b + c
template <typename Real>
DSLASH_INLINE Complex<Real> conjugate_multiply_add(Complex<Real> a, Complex<Real> b, Complex<Real> c) {
  return {multiply_add(a.re, b.re, multiply_add(a.im, b.im, c.re)),
          multiply_add(a.re, b.im, multiply_add(-a.im, b.re, c.im))};
}
template <typename Real>
DSLASH_INLINE Complex<Real> conjugate(Complex<Real> a) {
  return {a.re, -a.im};
}
template <typename Real>
DSLASH_INLINE Complex<Real> times_i(Complex<Real> a) {
  return {-a.im, a.re};
}
template <typename Real>
DSLASH_INLINE Complex<Real> scaled(Real factor, Complex<Real> a) {
  return {factor * a.re, factor * a.im};
}

template <typename Real>
struct Link {
  Complex<Real> row[3][3];
};

template <typename Real>
struct HalfSpinor {
  Complex<Real> spin[2][3];
};

/// Spins 0 and 1 are the upper half, 2 and 3 the lower half: the eigenspaces of gamma_4, to +1 and -1.
template <typename Real>
struct Spinor {
  Complex<Real> spin[4][3];
};

/// The third row of a matrix of SU(3) is the conjugate of the cross product of the others. `unit` is what
/// number 1 of the link stands for.
template <typename Real>
DSLASH_INLINE void complete(Link<Real>& link, Real unit = 1) {
  DSLASH_UNROLL for (int column = 0; column < 3; ++column) {
    const int next = (column + 1) % 3;
    const int last = (column + 2) % 3;
    const Complex<Real> left = link.row[0][next] * link.row[1][last];
    const Complex<Real> right = link.row[0][last];
    link.row[2][column] =
        scaled(unit, conjugate(multiply_add(Complex<Real>{-right.re, -right.im}, link.row[1][next], left)));
  }
}

/// U h
template <typename Real>
DSLASH_INLINE HalfSpinor<Real> multiply(const Link<Real>& link, const HalfSpinor<Real>& half) {
  HalfSpinor<Real> product;
  DSLASH_UNROLL for (int spin = 0; spin < 2; ++spin) {
    DSLASH_UNROLL for (int row = 0; row < 3; ++row) {
      Complex<Real> sum = link.row[row][0] * half.spin[spin][0];
      sum = multiply_add(link.row[row][1], half.spin[spin][1], sum);
      product.spin[spin][row] = multiply_add(link.row[row][2], half.spin[spin][2], sum);
    }
  }
  return product;
}

/// U^dagger h
template <typename Real>
DSLASH_INLINE HalfSpinor<Real> adjoint_multiply(const Link<Real>& link, const HalfSpinor<Real>& half) {
  HalfSpinor<Real> product;
  DSLASH_UNROLL for (int spin = 0; spin < 2; ++spin) {
    DSLASH_UNROLL for (int row = 0; row < 3; ++row) {
      Complex<Real> sum = conjugate(link.row[0][row]) * half.spin[spin][0];
      sum = conjugate_multiply_add(link.row[1][row], half.spin[spin][1], sum);
      product.spin[spin][row] = conjugate_multiply_add(link.row[2][row], half.spin[spin][2], sum);
    }
  }
  return product;
}

/// Component `spin` of i sigma_k applied to two spins, of one colour.
template <int direction, typename Real>
DSLASH_INLINE Complex<Real> i_sigma(int spin, Complex<Real> first, Complex<Real> second) {
  if constexpr (direction == 0) {
    return times_i(spin == 0 ? second : first);
  } else if constexpr (direction == 1) {
    return spin == 0 ? second : Complex<Real>{-first.re, -first.im};
  } else {
    return spin == 0 ? times_i(first) : Complex<Real>{second.im, -second.re};
  }
}

/// gamma_k = ((0, i sigma_k), (-i sigma_k, 0)). The upper half of (1 - sign gamma_k) psi says all:
/// u - sign i sigma_k l; the lower half is sign i sigma_k times it.
template <int direction, int sign, typename Real>
DSLASH_INLINE HalfSpinor<Real> project(const Spinor<Real>& psi) {
  HalfSpinor<Real> half;
  DSLASH_UNROLL for (int spin = 0; spin < 2; ++spin) {
    DSLASH_UNROLL for (int colour = 0; colour < 3; ++colour) {
      const Complex<Real> other = i_sigma<direction>(spin, psi.spin[2][colour], psi.spin[3][colour]);
      half.spin[spin][colour] = sign > 0 ? psi.spin[spin][colour] - other : psi.spin[spin][colour] + other;
    }
  }
  return half;
}

/// sum + weight * addend; a weight that is always 1 is not multiplied by.
template <bool is_weighted, typename Real>
DSLASH_INLINE Complex<Real> sum_of(Complex<Real> sum, [[maybe_unused]] Real weight, Complex<Real> addend) {
  if constexpr (is_weighted) {
    return {multiply_add(weight, addend.re, sum.re), multiply_add(weight, addend.im, sum.im)};
  } else {
    return sum + addend;
  }
}

/// Adds, with a weight, the spinor of which `half` is the upper half.
template <int direction, int sign, bool is_weighted, typename Real>
DSLASH_INLINE void add_reconstructed(Spinor<Real>& sum, Real weight, const HalfSpinor<Real>& half) {
  DSLASH_UNROLL for (int spin = 0; spin < 2; ++spin) {
    DSLASH_UNROLL for (int colour = 0; colour < 3; ++colour) {
      const Complex<Real> upper = half.spin[spin][colour];
      const Complex<Real> lower = i_sigma<direction>(spin, half.spin[0][colour], half.spin[1][colour]);
      const Complex<Real> signed_lower = sign > 0 ? lower : Complex<Real>{-lower.re, -lower.im};
      sum.spin[spin][colour] = sum_of<is_weighted>(sum.spin[spin][colour], weight, upper);
      sum.spin[2 + spin][colour] = sum_of<is_weighted>(sum.spin[2 + spin][colour], weight, signed_lower);
    }
  }
}

}  // namespace dslash
