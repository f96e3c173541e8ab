// The device code of the reductions. Included by kernels.cu only.
#pragma once

#include <type_traits>

#include "transports/kernels/reduction.hpp"

namespace penstock::transports::kernels {
namespace {

/// Not the compiler's own arithmetic on signed integers, whose overflow is undefined.
template <class T>
struct Wrapping {
  using Type = T;
};
template <class T>
requires std::is_integral_v<T>
struct Wrapping<T> {
  using Type = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
};

template <class T>
struct Sum {
  __device__ T operator()(T a, T b) const {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
template <class T>
struct Product {
  __device__ T operator()(T a, T b) const {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};
template <class T>
struct Maximum {
  __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T>
struct Minimum {
  __device__ T operator()(T a, T b) const { return a < b ? a : b; }
};
template <class T>
struct LogicalAnd {
  __device__ T operator()(T a, T b) const { return static_cast<T>(a != 0 && b != 0); }
};
template <class T>
struct LogicalOr {
  __device__ T operator()(T a, T b) const { return static_cast<T>(a != 0 || b != 0); }
};
template <class T>
struct LogicalXor {
  __device__ T operator()(T a, T b) const { return static_cast<T>((a != 0) != (b != 0)); }
};
template <class T>
struct BitAnd {
  __device__ T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <class T>
struct BitOr {
  __device__ T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <class T>
struct BitXor {
  __device__ T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

/// Elements that one load takes.
template <class T>
struct alignas(16) Vector {
  static constexpr std::uint32_t length = 16 / sizeof(T);
  T elements[length];
};

/// Vectors that a thread loads of each source before it combines them: loads in flight are what memory
/// bandwidth comes from.
constexpr std::uint32_t vectors_at_once = 4;

template <class T, class Combine>
__device__ void combine_vectors(const Reduction& reduction, std::uint64_t vectors, Combine combine) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto* const to = static_cast<Vector<T>*>(reduction.to);
  for (std::uint64_t first = thread; first < vectors; first += vectors_at_once * threads) {
    Vector<T> result[vectors_at_once];
    for (std::uint32_t source = 0; source < reduction.sources; ++source) {
      const auto* const from = static_cast<const Vector<T>*>(reduction.from[source]);
      Vector<T> next[vectors_at_once];
#ifdef __CUDACC__
#pragma unroll
#endif
      for (std::uint32_t i = 0; i < vectors_at_once; ++i) {
        if (first + i * threads < vectors) next[i] = from[first + i * threads];
      }
#ifdef __CUDACC__
#pragma unroll
#endif
      for (std::uint32_t i = 0; i < vectors_at_once; ++i) {
        for (std::uint32_t j = 0; j < Vector<T>::length; ++j) {
          result[i].elements[j] =
              source == 0 ? next[i].elements[j] : combine(result[i].elements[j], next[i].elements[j]);
        }
      }
    }
#ifdef __CUDACC__
#pragma unroll
#endif
    for (std::uint32_t i = 0; i < vectors_at_once; ++i) {
      if (first + i * threads < vectors) to[first + i * threads] = result[i];
    }
  }
}

/// From element `begin` on, one by one.
template <class T, class Combine>
__device__ void combine_elements(const Reduction& reduction, std::uint64_t begin, Combine combine) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t i = begin + thread; i < reduction.count; i += threads) {
    T result = static_cast<const T*>(reduction.from[0])[i];
    for (std::uint32_t source = 1; source < reduction.sources; ++source)
      result = combine(result, static_cast<const T*>(reduction.from[source])[i]);
    static_cast<T*>(reduction.to)[i] = result;
  }
}

template <class T, class Combine>
__device__ void combine_all(const Reduction& reduction, Combine combine) {
  std::uintptr_t addresses = reinterpret_cast<std::uintptr_t>(reduction.to);
  for (std::uint32_t source = 0; source < reduction.sources; ++source)
    addresses |= reinterpret_cast<std::uintptr_t>(reduction.from[source]);
  const std::uint64_t vectors = addresses % sizeof(Vector<T>) == 0 ? reduction.count / Vector<T>::length : 0;
  combine_vectors<T>(reduction, vectors, combine);
  combine_elements<T>(reduction, vectors * Vector<T>::length, combine);
}

template <class T>
__device__ void reduce(const Reduction& reduction) {
  switch (reduction.operation) {
    case ReductionOperation::sum:
      return combine_all<T>(reduction, Sum<T>());
    case ReductionOperation::product:
      return combine_all<T>(reduction, Product<T>());
    case ReductionOperation::maximum:
      return combine_all<T>(reduction, Maximum<T>());
    case ReductionOperation::minimum:
      return combine_all<T>(reduction, Minimum<T>());
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (reduction.operation) {
      case ReductionOperation::logical_and:
        return combine_all<T>(reduction, LogicalAnd<T>());
      case ReductionOperation::logical_or:
        return combine_all<T>(reduction, LogicalOr<T>());
      case ReductionOperation::logical_xor:
        return combine_all<T>(reduction, LogicalXor<T>());
      case ReductionOperation::bit_and:
        return combine_all<T>(reduction, BitAnd<T>());
      case ReductionOperation::bit_or:
        return combine_all<T>(reduction, BitOr<T>());
      case ReductionOperation::bit_xor:
        return combine_all<T>(reduction, BitXor<T>());
      default:
        break;
    }
  }
}

}  // namespace
}  // namespace penstock::transports::kernels
