// MPI datatypes and operations for what a program describes. Knows no buffers.
#pragma once

#include <mpi.h>

#include "tests/differential/program.hpp"

namespace penstock::differential {

/// Owns a committed datatype, or stands for a predefined one. May be destroyed while calls that use it are
/// pending, as MPI allows.
class Datatype {
 public:
  /// For a place: `count()` of it make up the whole place.
  Datatype(const Place& place, Base base);
  /// For collectives' units, which are 12 bytes with or without gaps.
  [[nodiscard]] static Datatype unit(bool has_gaps);
  [[nodiscard]] static Datatype element(Reduction reduction);
  ~Datatype();
  Datatype(Datatype&& other) noexcept;
  Datatype& operator=(Datatype&&) = delete;

  [[nodiscard]] MPI_Datatype get() const { return type_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  Datatype() = default;
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 0;
  bool owned_ = false;
};

/// The program's own operation: composition of affine maps, associative but not commutative. Owns it.
class AffineComposition {
 public:
  AffineComposition();
  ~AffineComposition();
  AffineComposition(const AffineComposition&) = delete;
  AffineComposition& operator=(const AffineComposition&) = delete;
  [[nodiscard]] MPI_Op get() const { return op_; }

 private:
  MPI_Op op_ = MPI_OP_NULL;
};

}  // namespace penstock::differential
