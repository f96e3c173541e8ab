// Tests many requests of the MPI library together. A test of one incomplete request makes the library poll
// for messages (MPICH: 0.1 µs and more), so a round of single tests over 64 receives would take longer than a
// message. Knows the request table's entries, not their pending work.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "interpose/progress/user_request.hpp"

namespace penstock::interpose {

/// The operations behind requests that one call waits for until all are complete. It completes them in the
/// MPI library, which may reuse their handles before the user's are null. No other thread may therefore be
/// inside MPI, and the call must not return earlier.
class Arrivals {
 public:
  explicit Arrivals(const std::vector<UserRequest>& requests);
  /// Records in the entries which operations' requests are complete by now. Cost: one poll for messages.
  void look();

 private:
  /// Both leave gaps, which drop_noted() closes.
  void note_arrival(std::size_t index, const MPI_Status& status, int code);
  void give_up(std::size_t index, int code) noexcept;
  void drop_noted();
  void look_one_by_one(int code);

  std::vector<Attended> attended_;
  /// MPICH 4.0 never completes several persistent collectives that are tested together; others are tested in
  /// turn.
  std::vector<RequestEntry*> asked_alone_;
  std::vector<RequestEntry*> awaited_;  ///< the other entries; their operations' requests are:
  std::vector<MPI_Request> requests_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace penstock::interpose
