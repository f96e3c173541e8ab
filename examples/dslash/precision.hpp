// Precisions, and how numbers lie in memory: in short vectors of 16 bytes. All sites' first vectors lie
// behind one another, then all second ones, so that the threads of a warp read whole lines; a remainder of 8
// or 4 bytes comes last. Half precision is a 16-bit fixed point number, with a norm of 4 bytes for each
// spinor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <cuda_runtime.h>

#include "examples/dslash/algebra.hpp"

namespace dslash {

struct Double {
  using Stored = double;
  using Real = double;
  static constexpr const char* name = "double";
};
struct Single {
  using Stored = float;
  using Real = float;
  static constexpr const char* name = "single";
};
struct Half {
  using Stored = std::int16_t;
  using Real = float;
  static constexpr const char* name = "half";
};

template <typename Precision>
constexpr bool is_fixed_point = sizeof(typename Precision::Stored) == 2;

/// The largest fixed point number, which stands for 1, or for a spinor's norm.
constexpr float fixed_point_one = 32767;

/// Items of so many real numbers each.
template <typename Precision, int reals>
struct Packing {
  static constexpr int stored_bytes = sizeof(typename Precision::Stored);
  static constexpr int in_a_vector = 16 / stored_bytes;
  static constexpr int vectors = reals / in_a_vector;  ///< whole ones of an item
  static constexpr int remainder = reals % in_a_vector;
  static constexpr std::size_t item_bytes = std::size_t{reals} * stored_bytes;
  static_assert(remainder * stored_bytes % 4 == 0 && remainder * stored_bytes != 12);
};

/// What is loaded and stored at once: 16, 8 or 4 bytes.
template <typename Stored, int bytes>
struct Raw;
template <>
struct Raw<double, 16> {
  using Type = double2;
};
template <typename Stored>
struct Raw<Stored, 16> {
  using Type = float4;
};
template <typename Stored>
struct Raw<Stored, 8> {
  using Type = float2;
};
template <typename Stored>
struct Raw<Stored, 4> {
  using Type = float;
};

namespace detail {

// Number by number: copies of whole pieces would send arrays through local memory.
DSLASH_INLINE void unpack(double2 piece, double* numbers) {
  numbers[0] = piece.x;
  numbers[1] = piece.y;
}
DSLASH_INLINE void unpack(float piece, float* numbers) {
  numbers[0] = piece;
}
/// Two fixed point numbers; the first one is in the lower half.
DSLASH_INLINE void unpack(float piece, std::int16_t* numbers) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &piece, sizeof bits);
  numbers[0] = static_cast<std::int16_t>(bits & 0xFFFFU);
  numbers[1] = static_cast<std::int16_t>(bits >> 16);
}
template <typename Stored>
DSLASH_INLINE void unpack(float2 piece, Stored* numbers) {
  unpack(piece.x, numbers);
  unpack(piece.y, numbers + 4 / sizeof(Stored));
}
template <typename Stored>
DSLASH_INLINE void unpack(float4 piece, Stored* numbers) {
  constexpr int in_a_word = 4 / sizeof(Stored);
  unpack(piece.x, numbers);
  unpack(piece.y, numbers + in_a_word);
  unpack(piece.z, numbers + 2 * in_a_word);
  unpack(piece.w, numbers + 3 * in_a_word);
}

DSLASH_INLINE void pack(double2& piece, const double* numbers) {
  piece = {numbers[0], numbers[1]};
}
DSLASH_INLINE void pack(float& piece, const float* numbers) {
  piece = numbers[0];
}
DSLASH_INLINE void pack(float& piece, const std::int16_t* numbers) {
  const std::uint32_t bits =
      (static_cast<std::uint32_t>(numbers[0]) & 0xFFFFU) | static_cast<std::uint32_t>(numbers[1]) << 16;
  std::memcpy(&piece, &bits, sizeof piece);
}
template <typename Stored>
DSLASH_INLINE void pack(float2& piece, const Stored* numbers) {
  pack(piece.x, numbers);
  pack(piece.y, numbers + 4 / sizeof(Stored));
}
template <typename Stored>
DSLASH_INLINE void pack(float4& piece, const Stored* numbers) {
  constexpr int in_a_word = 4 / sizeof(Stored);
  pack(piece.x, numbers);
  pack(piece.y, numbers + in_a_word);
  pack(piece.z, numbers + 2 * in_a_word);
  pack(piece.w, numbers + 3 * in_a_word);
}

}  // namespace detail

enum class Memory {
  constant,  ///< nobody writes while the kernel runs
  changing   ///< another GPU may have written since the kernel started
};

namespace detail {

template <typename Precision, int reals, Memory memory, int first, int count, int done>
DSLASH_INLINE void load_rest(const std::byte* items, std::int64_t stride, int item,
                             typename Precision::Stored* loaded) {
  if constexpr (done < count) {
    using Layout = Packing<Precision, reals>;
    constexpr int real = first + done;
    constexpr int vector = real / Layout::in_a_vector;
    constexpr int offset = real % Layout::in_a_vector;
    constexpr int width = vector < Layout::vectors ? Layout::in_a_vector : Layout::remainder;
    constexpr int taken = width - offset < count - done ? width - offset : count - done;
    using Piece = typename Raw<typename Precision::Stored, taken * Layout::stored_bytes>::Type;
    const auto* const address = reinterpret_cast<const Piece*>(
        items + stride * (16 * vector) + (std::int64_t{item} * width + offset) * Layout::stored_bytes);
    const Piece piece = memory == Memory::constant ? __ldg(address) : *address;
    unpack(piece, loaded + done);
    load_rest<Precision, reals, memory, first, count, done + taken>(items, stride, item, loaded);
  }
}

template <typename Precision, int reals, int done>
DSLASH_INLINE void store_rest(std::byte* items, std::int64_t stride, int item,
                              const typename Precision::Stored* stored) {
  if constexpr (done < reals) {
    using Layout = Packing<Precision, reals>;
    constexpr int vector = done / Layout::in_a_vector;
    constexpr int width = vector < Layout::vectors ? Layout::in_a_vector : Layout::remainder;
    using Piece = typename Raw<typename Precision::Stored, width * Layout::stored_bytes>::Type;
    Piece piece;
    pack(piece, stored + done);
    *reinterpret_cast<Piece*>(items + stride * (16 * vector) +
                              std::int64_t{item} * width * Layout::stored_bytes) = piece;
    store_rest<Precision, reals, done + width>(items, stride, item, stored);
  }
}

}  // namespace detail

/// Numbers first, first + 1, … of an item, as they are stored. `stride` is the number of items.
template <typename Precision, int reals, int first, int count, Memory memory = Memory::constant>
DSLASH_INLINE void load_stored(const std::byte* items, std::int64_t stride, int item,
                               typename Precision::Stored (&loaded)[count]) {
  detail::load_rest<Precision, reals, memory, first, count, 0>(items, stride, item, loaded);
}

template <typename Precision, int reals>
DSLASH_INLINE void store_stored(std::byte* items, std::int64_t stride, int item,
                                const typename Precision::Stored (&stored)[reals]) {
  detail::store_rest<Precision, reals, 0>(items, stride, item, stored);
}

/// Rounds to the nearest fixed point number: the sum's last bits are the integer's. |value| is 32767 at most.
DSLASH_INLINE std::int16_t to_fixed_point(float value) {
  const float shifted = value + 12582912.0F;  // 1.5 x 2^23
  std::uint32_t bits = 0;
  std::memcpy(&bits, &shifted, sizeof bits);
  return static_cast<std::int16_t>(bits & 0xFFFFU);
}

}  // namespace dslash
