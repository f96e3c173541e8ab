// The device code of the reductions. Only device code includes this file.
#pragma once

#include <type_traits>

#include "transports/kernels/loads.cuh"
#include "transports/kernels/reduction.hpp"

namespace penstock::transports::kernels {
namespace {

/// The unsigned type in which signed integers are computed, as their overflow is undefined.
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

template <class T>
struct Sum<Complex<T>> {
  __device__ Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
};
/// Rounds each operation by itself, as the host does (the compiler must not fuse them). Unlike C's Annex G,
/// it does not recover infinities from NaN.
template <class T>
struct Product<Complex<T>> {
  __device__ Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

/// Returns the lowest location of equal values; a value that cannot be compared gives way to the one behind
/// it. As in MPICH and Open MPI.
template <class T, bool is_maximum>
struct Extreme;
template <class T, class L, bool is_maximum>
struct Extreme<Located<T, L>, is_maximum> {
  __device__ Located<T, L> operator()(Located<T, L> a, Located<T, L> b) const {
    if (is_maximum ? a.value > b.value : a.value < b.value) return {a.value, a.location};
    if (a.value == b.value && a.location < b.location) return {b.value, a.location};
    return {b.value, b.location};
  }
};

/// Never reads or writes gaps: the memory behind the last element may have another owner.
template <class T>
__device__ T load_element(const T* from) {
  return *from;
}
template <class T, class L>
__device__ Located<T, L> load_element(const Located<T, L>* from) {
  return {from->value, from->location};
}
/// The same from memory, however often it was read before.
template <class T>
__device__ T load_element_fresh(const T* from) {
  if constexpr (std::is_arithmetic_v<T>) {
    return load<Loads::fresh>(from);
  } else if constexpr (is_complex<T>) {
    return {load<Loads::fresh>(&from->real), load<Loads::fresh>(&from->imaginary)};
  } else {
    return {load<Loads::fresh>(&from->value), load<Loads::fresh>(&from->location)};
  }
}
template <class T>
__device__ void store_element(T* to, const T& element) {
  *to = element;
}
template <class T, class L>
__device__ void store_element(Located<T, L>* to, const Located<T, L>& element) {
  to->value = element.value;
  to->location = element.location;
}

/// Elements of one load.
template <class T>
struct alignas(16) Vector {
  static constexpr std::uint32_t length = 16 / sizeof(T);
  T elements[length];
};

/// Vectors that a thread loads of each source before it combines them: memory bandwidth needs loads in
/// flight.
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

/// Combines from element `begin` on, one by one.
template <class T, class Combine>
__device__ void combine_elements(const Reduction& reduction, std::uint64_t begin, Combine combine) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t i = begin + thread; i < reduction.count; i += threads) {
    T result = load_element(static_cast<const T*>(reduction.from[0]) + i);
    for (std::uint32_t source = 1; source < reduction.sources; ++source)
      result = combine(result, load_element(static_cast<const T*>(reduction.from[source]) + i));
    store_element(static_cast<T*>(reduction.to) + i, result);
  }
}

/// Complex numbers and pairs are large enough to be loaded one by one; that halves the code.
template <class T, class Combine>
__device__ void combine_all(const Reduction& reduction, Combine combine) {
  std::uint64_t in_vectors = 0;
  if constexpr (std::is_arithmetic_v<T>) {
    std::uintptr_t addresses = reinterpret_cast<std::uintptr_t>(reduction.to);
    for (std::uint32_t source = 0; source < reduction.sources; ++source)
      addresses |= reinterpret_cast<std::uintptr_t>(reduction.from[source]);
    const std::uint64_t vectors =
        addresses % sizeof(Vector<T>) == 0 ? reduction.count / Vector<T>::length : 0;
    combine_vectors<T>(reduction, vectors, combine);
    in_vectors = vectors * Vector<T>::length;
  }
  combine_elements<T>(reduction, in_vectors, combine);
}

/// Calls `use(function)` with what combines two elements. The type must know the operation.
template <class T, class Use>
__device__ void with_operation_on_numbers(ReductionOperation operation, Use use) {
  switch (operation) {
    case ReductionOperation::sum:
      return use(Sum<T>());
    case ReductionOperation::product:
      return use(Product<T>());
    case ReductionOperation::maximum:
      return use(Maximum<T>());
    case ReductionOperation::minimum:
      return use(Minimum<T>());
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
      case ReductionOperation::logical_and:
        return use(LogicalAnd<T>());
      case ReductionOperation::logical_or:
        return use(LogicalOr<T>());
      case ReductionOperation::logical_xor:
        return use(LogicalXor<T>());
      case ReductionOperation::bit_and:
        return use(BitAnd<T>());
      case ReductionOperation::bit_or:
        return use(BitOr<T>());
      case ReductionOperation::bit_xor:
        return use(BitXor<T>());
      default:
        break;
    }
  }
}
template <class T, class Use>
__device__ void with_operation(ReductionOperation operation, Use use) {
  if constexpr (is_located<T>) {
    if (operation == ReductionOperation::maximum_location) return use(Extreme<T, true>());
    return use(Extreme<T, false>());
  } else if constexpr (is_complex<T>) {
    if (operation == ReductionOperation::sum) return use(Sum<T>());
    return use(Product<T>());
  } else {
    with_operation_on_numbers<T>(operation, use);
  }
}

template <class T>
__device__ void reduce(const Reduction& reduction) {
  with_operation<T>(reduction.operation, [&](auto combine) { combine_all<T>(reduction, combine); });
}

}  // namespace
}  // namespace penstock::transports::kernels
