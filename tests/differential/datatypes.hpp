// MPI datatypes and operations for what a program describes. Knows nothing of what buffers hold.
#pragma once

#include <mpi.h>

#include "tests/differential/arenas.hpp"
#include "tests/differential/program.hpp"

namespace penstock::differential {

/// Owns a committed datatype, or stands for a predefined one. May be destroyed while calls that use it are
/// pending, as MPI allows.
class Datatype {
 public:
  /// For a place: `count()` of it make up the whole place, from `buffer_of()` on.
  Datatype(const Place& place, Base base, const Arenas& arenas);
  /// For collectives' units, which are 12 bytes with or without gaps.
  [[nodiscard]] static Datatype unit(bool has_gaps);
  /// The same from MPI_BOTTOM on, of two allocations: `units` of them, one half in each; one, some of its
  /// integers in each.
  [[nodiscard]] static Datatype absolute_units(const void* first, const void* second, int units);
  /// Units without bytes, in two forms.
  [[nodiscard]] static Datatype empty_unit(bool has_blocks);
  [[nodiscard]] static Datatype element(Reduction reduction);
  ~Datatype();
  Datatype(Datatype&& other) noexcept;
  Datatype& operator=(Datatype&&) = delete;

  [[nodiscard]] MPI_Datatype get() const { return type_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  Datatype() = default;
  void take_empty(const Place& place, MPI_Datatype base, const Arenas& arenas);
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 0;
  bool owned_ = false;
};

/// What a call on the place takes as its buffer.
[[nodiscard]] void* buffer_of(const Place& place, const Arenas& arenas);

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
