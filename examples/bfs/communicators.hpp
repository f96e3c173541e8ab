// The communicators of a grid's row and column.
#pragma once

#include <mpi.h>

#include "examples/bfs/partition.hpp"

namespace bfs {

class Communicators {
 public:
  /// Collective. `all` must outlive it.
  Communicators(const Partition& partition, MPI_Comm all) : all_(all) {
    MPI_Comm_split(all, partition.row(), partition.column(), &row_);
    MPI_Comm_split(all, partition.column(), partition.row(), &column_);
  }
  ~Communicators() {
    MPI_Comm_free(&row_);
    MPI_Comm_free(&column_);
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  [[nodiscard]] MPI_Comm all() const { return all_; }
  [[nodiscard]] MPI_Comm row() const { return row_; }
  [[nodiscard]] MPI_Comm column() const { return column_; }

 private:
  MPI_Comm all_;
  MPI_Comm row_ = MPI_COMM_NULL;
  MPI_Comm column_ = MPI_COMM_NULL;
};

}  // namespace bfs
