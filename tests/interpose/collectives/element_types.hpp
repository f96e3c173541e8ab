// Element types for collectives, each with an operation that works on it: plain, with gaps, and with an
// operation of the program's own that does not commute. Knows MPI only.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"

namespace penstock::test_support {

struct ElementType {
  const char* name;
  MPI_Datatype handle;
  MPI_Op operation;

  [[nodiscard]] std::ptrdiff_t extent_bytes() const {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(handle, &lower_bound, &extent);
    return extent;
  }
  /// Of the buffer that `count` elements lie in.
  [[nodiscard]] Extent extent(int count) const {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(handle, &lower_bound, &extent);
    if (count <= 0) return {};
    return {.before = static_cast<std::size_t>(-lower_bound),
            .after = static_cast<std::size_t>(extent * count)};
  }
};

/// x → a x + b modulo 2^32: composing two of them does not commute. Padded, and copied as a whole by the
/// operation.
struct AffineMap {
  std::uint32_t factor;
  std::uint8_t padding[8];
  std::uint32_t summand;
  std::uint64_t more_padding;
};

/// Owns the types and operations. Between MPI_Init and MPI_Finalize.
class ElementTypes {
 public:
  ElementTypes() {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {offsetof(AffineMap, factor), offsetof(AffineMap, summand)};
    const MPI_Datatype parts[] = {MPI_UINT32_T, MPI_UINT32_T};
    MPI_Datatype unpadded = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, parts, &unpadded);
    MPI_Type_create_resized(unpadded, 0, sizeof(AffineMap), &affine_map_);
    MPI_Type_free(&unpadded);
    MPI_Type_commit(&affine_map_);
    MPI_Op_create(compose, 0, &composition_);

    comb_ = comb(1);
    comb_before_ = comb(-2);
    MPI_Op_create(bitwise_or, 1, &comb_or_);

    types_ = {
        {"int", MPI_INT, MPI_SUM}, {"padded struct", affine_map_, composition_}, {"comb", comb_, comb_or_}};
  }
  ~ElementTypes() {
    MPI_Op_free(&composition_);
    MPI_Op_free(&comb_or_);
    MPI_Type_free(&affine_map_);
    MPI_Type_free(&comb_);
    MPI_Type_free(&comb_before_);
  }
  ElementTypes(const ElementTypes&) = delete;
  ElementTypes& operator=(const ElementTypes&) = delete;

  [[nodiscard]] std::span<const ElementType> all() const { return types_; }
  /// Those that all begin at their address: the reductions of Open MPI 4.1 and the
  /// files of MPICH 4.0 go wrong with others, on host buffers too.
  [[nodiscard]] std::span<const ElementType> plain() const { return all().first(types_.size() - 1); }

 private:
  /// Three of seven bytes, the first at `begin`.
  static MPI_Datatype comb(MPI_Aint begin) {
    MPI_Datatype bytes = MPI_DATATYPE_NULL;
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    MPI_Datatype resized = MPI_DATATYPE_NULL;
    const int one = 1;
    MPI_Type_vector(3, 1, 2, MPI_UINT8_T, &bytes);
    MPI_Type_create_hindexed(1, &one, &begin, bytes, &moved);
    MPI_Type_create_resized(moved, begin < 0 ? begin : 0, 7, &resized);
    MPI_Type_free(&bytes);
    MPI_Type_free(&moved);
    MPI_Type_commit(&resized);
    return resized;
  }

  static void compose(void* in, void* in_and_out, int* length, MPI_Datatype*) {
    const auto* left = static_cast<const AffineMap*>(in);
    auto* right = static_cast<AffineMap*>(in_and_out);
    for (int index = 0; index < *length; ++index) {
      AffineMap composed = right[index];
      composed.factor = left[index].factor * right[index].factor;
      composed.summand = left[index].factor * right[index].summand + left[index].summand;
      right[index].factor = composed.factor;
      right[index].summand = composed.summand;
    }
  }
  static void bitwise_or(void* in, void* in_and_out, int* length, MPI_Datatype*) {
    const auto* from = static_cast<const std::uint8_t*>(in);
    auto* to = static_cast<std::uint8_t*>(in_and_out);
    for (int index = 0; index < *length; ++index) {
      for (int tooth = 1; tooth <= 5; tooth += 2) {
        to[index * 7 + tooth] = static_cast<std::uint8_t>(to[index * 7 + tooth] | from[index * 7 + tooth]);
      }
    }
  }

  MPI_Datatype affine_map_ = MPI_DATATYPE_NULL;
  MPI_Datatype comb_ = MPI_DATATYPE_NULL;
  MPI_Datatype comb_before_ = MPI_DATATYPE_NULL;
  MPI_Op composition_ = MPI_OP_NULL;
  MPI_Op comb_or_ = MPI_OP_NULL;
  std::vector<ElementType> types_;
};

}  // namespace penstock::test_support
