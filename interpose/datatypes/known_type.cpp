#include "interpose/datatypes/known_type.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace penstock::interpose {
namespace {

using transports::ElementType;

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

// Made at first use: an MPI library that is bound at run time has its handles only then.
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
      KnownType{MPI_CHAR, element_of<char>(), Allowed::nothing},
      KnownType{MPI_WCHAR, element_of<wchar_t>(), Allowed::nothing},
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
      // Fortran's, if they have these sizes
      KnownType{MPI_CHARACTER, element_of<char>(), Allowed::nothing},
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

}  // namespace

const KnownType* known_type(MPI_Datatype datatype) noexcept {
  // the list has null for types that an MPI library lacks
  if (datatype == MPI_DATATYPE_NULL) return nullptr;
  const auto found = std::ranges::find(known_types(), datatype, &KnownType::datatype);
  return found != known_types().end() ? &*found : nullptr;
}

}  // namespace penstock::interpose
