// Random nested datatypes of every constructor, small enough that a few elements stay within a megabyte on
// either side of the buffer's address. Knows MPI only.
#pragma once

#include <mpi.h>

#include <array>
#include <random>

namespace penstock::test_support {

/// Strides are no odd numbers of bytes: Open MPI 4.1 takes a stride of -1 byte for "dense". Committed or not;
/// the caller frees it. The same for the same state of `random` under every MPI.
inline MPI_Datatype random_datatype(std::mt19937& random, int depth) {
  const auto between = [&](int first, int last) {
    return first + static_cast<int>(random() % static_cast<unsigned>(last - first + 1));
  };
  const auto free = [](MPI_Datatype& type, bool made) {
    if (made) MPI_Type_free(&type);
  };
  constexpr int pieces = 3;
  std::array<int, pieces> lengths{};
  std::array<int, pieces> elements{};
  std::array<MPI_Aint, pieces> bytes{};
  for (int index = 0; index < pieces; ++index) {
    const auto at = static_cast<std::size_t>(index);
    lengths[at] = between(0, 3);
    elements[at] = between(-4, 6);
    bytes[at] = between(-100, 200);
  }
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  const bool inner_was_made = depth > 1 && between(0, 3) != 0;
  if (inner_was_made) {
    inner = random_datatype(random, depth - 1);
  } else {
    const std::array named = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT, MPI_SHORT_INT};
    inner = named[static_cast<std::size_t>(between(0, static_cast<int>(named.size()) - 1))];
  }

  MPI_Datatype type = MPI_DATATYPE_NULL;
  switch (between(0, 10)) {
    case 0:
      MPI_Type_contiguous(between(0, 4), inner, &type);
      break;
    case 1:
      MPI_Type_vector(between(0, 4), between(0, 3), between(-3, 6), inner, &type);
      break;
    case 2:
      MPI_Type_create_hvector(between(0, 4), between(0, 3), 4 * between(-25, 50), inner, &type);
      break;
    case 3:
      MPI_Type_indexed(pieces, lengths.data(), elements.data(), inner, &type);
      break;
    case 4:
      MPI_Type_create_hindexed(pieces, lengths.data(), bytes.data(), inner, &type);
      break;
    case 5:
      MPI_Type_create_indexed_block(pieces, between(0, 3), elements.data(), inner, &type);
      break;
    case 6:
      MPI_Type_create_hindexed_block(pieces, between(0, 3), bytes.data(), inner, &type);
      break;
    case 7: {
      const bool other_was_made = depth > 1;
      MPI_Datatype other = other_was_made ? random_datatype(random, depth - 1) : MPI_FLOAT;
      const std::array types = {inner, other, inner};
      MPI_Type_create_struct(pieces, lengths.data(), bytes.data(), types.data(), &type);
      free(other, other_was_made);
      break;
    }
    case 8: {
      const std::array sizes = {4, 5};
      const std::array subsizes = {between(1, 3), between(1, 3)};
      const std::array starts = {between(0, 1), between(0, 2)};
      MPI_Type_create_subarray(2, sizes.data(), subsizes.data(), starts.data(),
                               between(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &type);
      break;
    }
    case 9:
      MPI_Type_create_resized(inner, between(-32, 8), between(0, 256), &type);
      break;
    default:
      MPI_Type_dup(inner, &type);
      break;
  }
  free(inner, inner_was_made);
  return type;
}

}  // namespace penstock::test_support
