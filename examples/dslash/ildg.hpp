// Gauge configurations in the format of the International Lattice Data Grid: a LIME file with a record of
// XML, which says what the lattice is, and one of numbers, big-endian, real and imaginary part, column, row,
// direction, x, y, z, t, the first one running fastest. Knows no MPI and no GPU.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>

#include "examples/dslash/lime.hpp"
#include "examples/dslash/model.hpp"

namespace dslash {

/// What a file holds. Reading it throws FormatError, which names field and offset.
struct IldgHeader {
  Lattice lattice;
  int bits = 64;                  ///< of a number
  std::uint64_t data_offset = 0;  ///< of the numbers

  [[nodiscard]] static IldgHeader read(std::istream& file);
};

/// Numbers of a slice, as Model::links has them.
[[nodiscard]] std::size_t window_numbers_of_slice(const Lattice& lattice);

/// Links of a slice to `numbers`, two rows each, which are made orthonormal where they are so only within the
/// file's precision. Throws FormatError where they are no matrices of SU(3).
void read_slice(std::istream& file, const IldgHeader& header, int slice, double* numbers);

/// The model's links. Throws nothing; whether all was written the stream says.
void write_ildg(std::ostream& file, const Model& model, int bits);

}  // namespace dslash
