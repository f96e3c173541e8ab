// One element of a datatype as blocks of bytes, from the constructors that made the type. Knows no message
// and no buffer, and keeps nothing.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>

#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

[[nodiscard]] constexpr std::size_t as_size(std::ptrdiff_t number) noexcept {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(number, 0));
}

/// One element of a datatype. `extent` is the distance from one element to the next.
struct DatatypeElement {
  transports::Layout layout;
  std::ptrdiff_t extent = 0;

  [[nodiscard]] transports::Layout of(MPI_Count count) const {
    return count == 1 ? layout : layout.repeated(as_size(count), extent);
  }
};

/// Errors of all below: UnreadableDatatype.
[[nodiscard]] DatatypeElement element_of(MPI_Datatype datatype);
[[nodiscard]] std::size_t size_of(MPI_Datatype datatype);
[[nodiscard]] std::ptrdiff_t readable_extent_of(MPI_Datatype datatype);

/// Returns the layout of a predefined type. All lie in one piece except the pairs of MPI_MINLOC and
/// MPI_MAXLOC: a value and an int after it, laid out as a C struct of the two.
[[nodiscard]] transports::Layout layout_of_named(MPI_Datatype datatype);

}  // namespace penstock::interpose
