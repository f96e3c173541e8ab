// How a datatype was made: the arguments of its constructor, read one after another in the constructor's
// order, whether the MPI library keeps them as int, MPI_Aint or MPI_Count. This header knows no layout.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::interpose {

/// The constructors, regardless of the width and language of their arguments.
enum class Combiner : std::uint8_t {
  named,  ///< predefined, or one of Fortran's parametrised types, which behave alike
  duplicate,
  contiguous,
  vector,
  hvector,
  indexed,
  hindexed,
  indexed_block,
  hindexed_block,
  structure,
  subarray,
  darray,
  resized,
};

/// Owns the handles of the datatypes among the arguments. Not for predefined types. Reads types with large
/// counts by MPI-4's functions; a library of MPI-3 has neither. Source: MPI-4 §5.1.13
/// (MPI_TYPE_GET_CONTENTS). Errors: UnreadableDatatype, std::bad_alloc.
class DatatypeContents {
 public:
  explicit DatatypeContents(MPI_Datatype datatype);
  ~DatatypeContents();
  DatatypeContents(const DatatypeContents&) = delete;
  DatatypeContents& operator=(const DatatypeContents&) = delete;

  /// Returns whether no constructor made the type, which then has no contents. Errors: UnreadableDatatype.
  [[nodiscard]] static bool is_predefined(MPI_Datatype datatype);

  [[nodiscard]] Combiner combiner() const noexcept { return combiner_; }

  [[nodiscard]] int next_integer();
  /// Reads a count, length, or displacement in elements.
  [[nodiscard]] std::ptrdiff_t next_count();
  /// Reads a displacement in bytes.
  [[nodiscard]] std::ptrdiff_t next_address();
  /// The type stays owned by this object.
  [[nodiscard]] MPI_Datatype next_type();

  [[nodiscard]] std::vector<int> next_integers(std::ptrdiff_t count);
  [[nodiscard]] std::vector<std::ptrdiff_t> next_counts(std::ptrdiff_t count);
  [[nodiscard]] std::vector<std::ptrdiff_t> next_addresses(std::ptrdiff_t count);

 private:
  /// Returns the MPI library's code.
  [[nodiscard]] int read(MPI_Datatype datatype) noexcept;

  Combiner combiner_ = Combiner::named;
  bool addresses_are_integers_ = false;  ///< made by a function of MPI-1 from Fortran
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> large_counts_;  ///< not empty: made with MPI_Count arguments
  std::vector<MPI_Datatype> types_;
  std::size_t integers_read_ = 0;
  std::size_t addresses_read_ = 0;
  std::size_t large_counts_read_ = 0;
  std::size_t types_read_ = 0;
};

}  // namespace penstock::interpose
