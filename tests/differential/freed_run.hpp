// Messages and a collective whose communicator, datatypes and operation are freed while they are pending, as
// MPI allows. At once others are made, which may get the same handles. Knows no other part of the program.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "tests/differential/arenas.hpp"
#include "tests/differential/program.hpp"

namespace penstock::differential {

/// One rank's part. All ranks of `world` make one, and finish it, at the same place of the program's order.
class FreedRun {
 public:
  FreedRun(const Freed& freed, MPI_Comm world, Arenas& arenas, bool may_be_persistent);
  FreedRun(const FreedRun&) = delete;
  FreedRun& operator=(const FreedRun&) = delete;

  /// Completes everything; what was received.
  [[nodiscard]] std::string finish();

 private:
  void make_communicator(MPI_Comm world);
  void start_sends();
  void start_receives();
  void start_collective();
  void free_handles();
  void make_others(MPI_Comm world);

  const Freed& freed_;
  Arenas& arenas_;
  const bool may_be_persistent_;
  int rank_ = 0;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
  MPI_Datatype element_ = MPI_DATATYPE_NULL;
  std::vector<MPI_Datatype> types_;
  std::vector<MPI_Request> requests_;
  std::vector<Region> received_;
  std::vector<int> counted_;  ///< requests that are receives of `received_`, in its order
  std::vector<MPI_Comm> other_communicators_;
  std::vector<MPI_Datatype> other_types_;
  MPI_Op other_operation_ = MPI_OP_NULL;
};

}  // namespace penstock::differential
