// Datatypes of partitions, all of ints, so that messages between any two of them are legal. Knows MPI only.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

namespace penstock::test_support {

struct PartitionType {
  const char* name;
  MPI_Datatype handle;
  int ints;            ///< of the payload in an element
  std::size_t extent;  ///< of an element, in bytes
};

/// Owns the types. Between MPI_Init and MPI_Finalize.
class PartitionTypes {
 public:
  PartitionTypes() {
    // two ints of five, with gaps between and behind
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 5 * sizeof(int), &spread_);
    MPI_Type_free(&vector);
    // three ints in pieces of two and one, in descending order
    const int lengths[] = {2, 1};
    const int places[] = {4, 1};
    MPI_Datatype indexed = MPI_DATATYPE_NULL;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &indexed);
    MPI_Type_create_resized(indexed, 0, 7 * sizeof(int), &ragged_);
    MPI_Type_free(&indexed);
    MPI_Type_commit(&spread_);
    MPI_Type_commit(&ragged_);
  }
  ~PartitionTypes() {
    MPI_Type_free(&spread_);
    MPI_Type_free(&ragged_);
  }
  PartitionTypes(const PartitionTypes&) = delete;
  PartitionTypes& operator=(const PartitionTypes&) = delete;

  [[nodiscard]] std::array<PartitionType, 3> all() const {
    return {{{"ints", MPI_INT, 1, sizeof(int)},
             {"spread", spread_, 2, 5 * sizeof(int)},
             {"ragged", ragged_, 3, 7 * sizeof(int)}}};
  }

 private:
  MPI_Datatype spread_ = MPI_DATATYPE_NULL;
  MPI_Datatype ragged_ = MPI_DATATYPE_NULL;
};

}  // namespace penstock::test_support
