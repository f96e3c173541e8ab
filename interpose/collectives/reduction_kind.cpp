#include "interpose/collectives/reduction_kind.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "interpose/binding/mpi_details.hpp"

namespace penstock::interpose {
namespace {

using transports::ElementType;
using transports::ReductionOperation;

/// What may be done with a datatype, besides what its elements can.
enum class Allowed : std::uint8_t { everything, not_logical, logical, bitwise };

struct KnownType {
  MPI_Datatype datatype;
  ElementType type;
  Allowed allowed = Allowed::everything;
};

struct PredefinedOperation {
  MPI_Op operation;
  std::optional<ReductionOperation> known;  ///< none: of windows only
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
      KnownType{MPI_CXX_BOOL, ElementType::uint8, Allowed::logical},
      KnownType{MPI_C_FLOAT_COMPLEX, ElementType::complex_float32},
      KnownType{MPI_C_DOUBLE_COMPLEX, ElementType::complex_float64},
      KnownType{MPI_CXX_FLOAT_COMPLEX, ElementType::complex_float32},
      KnownType{MPI_CXX_DOUBLE_COMPLEX, ElementType::complex_float64},
      KnownType{MPI_SHORT_INT, ElementType::located_int16},
      KnownType{MPI_2INT, ElementType::located_int32},
      KnownType{MPI_LONG_INT, ElementType::located_int64},
      KnownType{MPI_FLOAT_INT, ElementType::located_float32},
      KnownType{MPI_DOUBLE_INT, ElementType::located_float64},
      // Fortran's, where they are of these sizes
      KnownType{MPI_INTEGER, ElementType::int32, Allowed::not_logical},
      KnownType{MPI_INTEGER1, ElementType::int8, Allowed::not_logical},
      KnownType{MPI_INTEGER2, ElementType::int16, Allowed::not_logical},
      KnownType{MPI_INTEGER4, ElementType::int32, Allowed::not_logical},
      KnownType{MPI_INTEGER8, ElementType::int64, Allowed::not_logical},
      KnownType{MPI_LOGICAL, ElementType::int32, Allowed::logical},
      KnownType{MPI_REAL, ElementType::float32},
      KnownType{MPI_REAL4, ElementType::float32},
      KnownType{MPI_REAL8, ElementType::float64},
      KnownType{MPI_DOUBLE_PRECISION, ElementType::float64},
      KnownType{MPI_COMPLEX, ElementType::complex_float32},
      KnownType{MPI_COMPLEX8, ElementType::complex_float32},
      KnownType{MPI_COMPLEX16, ElementType::complex_float64},
      KnownType{MPI_DOUBLE_COMPLEX, ElementType::complex_float64},
      KnownType{MPI_2INTEGER, ElementType::located_int32},
      KnownType{MPI_2REAL, ElementType::two_float32},
      KnownType{MPI_2DOUBLE_PRECISION, ElementType::two_float64},
  };
  return types;
}

const auto& predefined_operations() {
  static const std::array operations = {
      PredefinedOperation{MPI_SUM, ReductionOperation::sum},
      PredefinedOperation{MPI_MAX, ReductionOperation::maximum},
      PredefinedOperation{MPI_MIN, ReductionOperation::minimum},
      PredefinedOperation{MPI_PROD, ReductionOperation::product},
      PredefinedOperation{MPI_LAND, ReductionOperation::logical_and},
      PredefinedOperation{MPI_LOR, ReductionOperation::logical_or},
      PredefinedOperation{MPI_LXOR, ReductionOperation::logical_xor},
      PredefinedOperation{MPI_BAND, ReductionOperation::bit_and},
      PredefinedOperation{MPI_BOR, ReductionOperation::bit_or},
      PredefinedOperation{MPI_BXOR, ReductionOperation::bit_xor},
      PredefinedOperation{MPI_MAXLOC, ReductionOperation::maximum_location},
      PredefinedOperation{MPI_MINLOC, ReductionOperation::minimum_location},
      PredefinedOperation{MPI_REPLACE, std::nullopt},
      PredefinedOperation{MPI_NO_OP, std::nullopt},
  };
  return operations;
}

bool is_allowed(Allowed allowed, ReductionOperation operation) noexcept {
  const bool is_logical =
      operation >= ReductionOperation::logical_and && operation <= ReductionOperation::logical_xor;
  switch (allowed) {
    case Allowed::everything:
      return true;
    case Allowed::not_logical:
      return !is_logical;
    case Allowed::logical:
      return is_logical;
    case Allowed::bitwise:
      return operation >= ReductionOperation::bit_and;
  }
  return false;
}

const PredefinedOperation* find(MPI_Op operation) noexcept {
  const auto found = std::ranges::find(predefined_operations(), operation, &PredefinedOperation::operation);
  return found != predefined_operations().end() ? &*found : nullptr;
}

}  // namespace

bool is_predefined(MPI_Op operation) noexcept {
  return find(operation) != nullptr;
}

std::optional<ReductionKind> reduction_kind(MPI_Datatype datatype, MPI_Op operation) noexcept {
  // what an MPI library does not have may stand in the list as null
  if (datatype == MPI_DATATYPE_NULL) return std::nullopt;
  const auto type = std::ranges::find(known_types(), datatype, &KnownType::datatype);
  const PredefinedOperation* const predefined = find(operation);
  if (type == known_types().end() || predefined == nullptr || !predefined->known) return std::nullopt;
  const ReductionOperation known = *predefined->known;
  if (!is_allowed(type->allowed, known) || !transports::is_defined(known, type->type)) return std::nullopt;
  const std::size_t bytes = transports::bytes_of(type->type);
  if (extent_of(datatype) != static_cast<std::ptrdiff_t>(bytes)) return std::nullopt;
  ReductionKind kind{type->type, known};
  if (payload_bytes(1, datatype) == bytes) return kind;
  MPI_Count begin = 0;
  MPI_Count used = 0;
  PMPI_Type_get_true_extent_x(datatype, &begin, &used);
  kind.pairs = datatype;
  kind.last_gap_bytes = bytes - static_cast<std::size_t>(used);
  return kind;
}

}  // namespace penstock::interpose
