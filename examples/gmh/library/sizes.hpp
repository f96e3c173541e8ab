// Sizes of the datatypes.
#pragma once

#include <cstddef>

#include "examples/gmh/library/error.hpp"

namespace gmh {

[[nodiscard]] inline std::size_t size_of(gmh_datatype_t type) {
  switch (type) {
    case GMH_BYTE:
      return 1;
    case GMH_INT:
    case GMH_FLOAT:
      return 4;
    case GMH_INT64:
    case GMH_DOUBLE:
      return 8;
  }
  fail(GMH_ERR_ARGUMENT, "there is no datatype %d", static_cast<int>(type));
}

[[nodiscard]] inline std::size_t bytes_of(int count, gmh_datatype_t type) {
  if (count < 0) fail(GMH_ERR_ARGUMENT, "a message of %d elements", count);
  return static_cast<std::size_t>(count) * size_of(type);
}

}  // namespace gmh
