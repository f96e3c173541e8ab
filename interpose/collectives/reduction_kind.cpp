#include "interpose/collectives/reduction_kind.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

namespace penstock::interpose {
namespace {

using transports::ElementType;
using transports::ReductionOperation;

/// What may be done with a datatype, besides what its elements can.
enum class Allowed : std::uint8_t { everything, logical, bitwise };

struct KnownType {
  MPI_Datatype datatype;
  ElementType type;
  Allowed allowed = Allowed::everything;
};

struct KnownOperation {
  MPI_Op operation;
  ReductionOperation known;
};

template <class T>
constexpr ElementType element_of() {
  if constexpr (std::is_same_v<T, float>) {
    return ElementType::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ElementType::float64;
  } else if constexpr (sizeof(T) == 1) {
    return std::is_signed_v<T> ? ElementType::int8 : ElementType::uint8;
  } else if constexpr (sizeof(T) == 2) {
    return std::is_signed_v<T> ? ElementType::int16 : ElementType::uint16;
  } else if constexpr (sizeof(T) == 4) {
    return std::is_signed_v<T> ? ElementType::int32 : ElementType::uint32;
  } else {
    static_assert(sizeof(T) == 8);
    return std::is_signed_v<T> ? ElementType::int64 : ElementType::uint64;
  }
}

// Both made at first use: an MPI library that is bound at run time has its handles only then.

const auto& known_types() {
  static const std::array types = {
      KnownType{MPI_DOUBLE, element_of<double>()},
      KnownType{MPI_FLOAT, element_of<float>()},
      KnownType{MPI_INT, element_of<int>()},
      KnownType{MPI_LONG, element_of<long>()},
      KnownType{MPI_UNSIGNED, element_of<unsigned>()},
      KnownType{MPI_UNSIGNED_LONG, element_of<unsigned long>()},
      KnownType{MPI_LONG_LONG_INT, element_of<long long>()},
      KnownType{MPI_UNSIGNED_LONG_LONG, element_of<unsigned long long>()},
      KnownType{MPI_SHORT, element_of<short>()},
      KnownType{MPI_UNSIGNED_SHORT, element_of<unsigned short>()},
      KnownType{MPI_SIGNED_CHAR, element_of<signed char>()},
      KnownType{MPI_UNSIGNED_CHAR, element_of<unsigned char>()},
      KnownType{MPI_INT8_T, element_of<std::int8_t>()},
      KnownType{MPI_UINT8_T, element_of<std::uint8_t>()},
      KnownType{MPI_INT16_T, element_of<std::int16_t>()},
      KnownType{MPI_UINT16_T, element_of<std::uint16_t>()},
      KnownType{MPI_INT32_T, element_of<std::int32_t>()},
      KnownType{MPI_UINT32_T, element_of<std::uint32_t>()},
      KnownType{MPI_INT64_T, element_of<std::int64_t>()},
      KnownType{MPI_UINT64_T, element_of<std::uint64_t>()},
      KnownType{MPI_AINT, element_of<MPI_Aint>()},
      KnownType{MPI_OFFSET, element_of<MPI_Offset>()},
      KnownType{MPI_COUNT, element_of<MPI_Count>()},
      KnownType{MPI_BYTE, ElementType::uint8, Allowed::bitwise},
      KnownType{MPI_C_BOOL, ElementType::uint8, Allowed::logical},
  };
  return types;
}

const auto& known_operations() {
  static const std::array operations = {
      KnownOperation{MPI_SUM, ReductionOperation::sum},
      KnownOperation{MPI_MAX, ReductionOperation::maximum},
      KnownOperation{MPI_MIN, ReductionOperation::minimum},
      KnownOperation{MPI_PROD, ReductionOperation::product},
      KnownOperation{MPI_LAND, ReductionOperation::logical_and},
      KnownOperation{MPI_LOR, ReductionOperation::logical_or},
      KnownOperation{MPI_LXOR, ReductionOperation::logical_xor},
      KnownOperation{MPI_BAND, ReductionOperation::bit_and},
      KnownOperation{MPI_BOR, ReductionOperation::bit_or},
      KnownOperation{MPI_BXOR, ReductionOperation::bit_xor},
  };
  return operations;
}

bool is_allowed(Allowed allowed, ReductionOperation operation) noexcept {
  switch (allowed) {
    case Allowed::everything:
      return true;
    case Allowed::logical:
      return operation >= ReductionOperation::logical_and && operation <= ReductionOperation::logical_xor;
    case Allowed::bitwise:
      return operation >= ReductionOperation::bit_and;
  }
  return false;
}

}  // namespace

std::optional<ReductionKind> reduction_kind(MPI_Datatype datatype, MPI_Op operation) noexcept {
  const auto type = std::ranges::find(known_types(), datatype, &KnownType::datatype);
  const auto known = std::ranges::find(known_operations(), operation, &KnownOperation::operation);
  if (type == known_types().end() || known == known_operations().end()) return std::nullopt;
  if (!is_allowed(type->allowed, known->known) || !transports::is_defined(known->known, type->type))
    return std::nullopt;
  return ReductionKind{type->type, known->known};
}

}  // namespace penstock::interpose
