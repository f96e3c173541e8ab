// Carries out one collective of a program. Knows what each MPI call takes, and which bytes it leaves
// undefined.
#pragma once

#include <mpi.h>

#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/differential/arenas.hpp"
#include "tests/differential/datatypes.hpp"
#include "tests/differential/program.hpp"

namespace penstock::differential {

/// How a call that is to be over when it returns is made. The second way needs MPI-4, else it is the first
/// one.
enum class Blocking : std::uint8_t { at_once, by_persistent_request, by_nonblocking_call };

/// One rank's part in it. Keeps what the call refers to until destroyed, so it must outlive the request.
class CollectiveRun {
 public:
  CollectiveRun(const Collective& collective, const Arenas& arenas, MPI_Comm communicator, MPI_Op affine);

  /// Blocking calls leave the request null.
  void start(MPI_Request& request, Blocking blocking);

  /// The member's receive region is undefined from here on after the call.
  [[nodiscard]] static std::size_t defined_bytes(const Collective& collective, std::size_t member);

 private:
  Datatype type_of_units(const Region& first, const Region& rest, bool has_gaps, bool is_absolute, int& count,
                         const Arenas& arenas) const;
  [[nodiscard]] const Collective::Member& own_part() const {
    return collective_.members[static_cast<std::size_t>(member_)];
  }
  void share_unequally();
  /// With a request not blocking.
  void call(MPI_Request* later);
  void move_data(MPI_Request* request);
  void move_unequal_data(MPI_Request* request);
  void exchange_all(MPI_Request* request);
  void reduce(MPI_Request* request);

#if PENSTOCK_HAS_MPI_4
  void initialise(MPI_Request* request);
#endif

  const Collective& collective_;
  MPI_Comm communicator_;
  int member_ = 0;
  int size_ = 0;
  int send_count_;  ///< where all shares are alike
  int receive_count_;
  MPI_Op operation_;
  Datatype send_type_;
  Datatype receive_type_;
  void* send_;  ///< MPI_IN_PLACE where the call is in place
  void* receive_;
  std::vector<int> shares_;  ///< units to or from each member
  std::vector<int> starts_;  ///< where they lie, in units
  std::vector<int> send_byte_starts_;
  std::vector<int> receive_byte_starts_;
  std::vector<MPI_Datatype> send_types_;
  std::vector<MPI_Datatype> receive_types_;
};

}  // namespace penstock::differential
