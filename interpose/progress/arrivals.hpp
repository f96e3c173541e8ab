// Asks the MPI library about many requests together. Asked about one that is not complete, it looks for
// messages each time (MPICH: 0.1 µs and more), so a round over 64 receives would take longer than a message.
// Knows the side table's entries, not what hangs in them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "interpose/progress/user_request.hpp"

namespace penstock::interpose {

/// The operations behind requests that one call waits for until all are done. It completes them in the MPI
/// library, which may give their handles to others before the user's are null: no other thread may be inside
/// MPI, and the call must not return before.
class Arrivals {
 public:
  explicit Arrivals(const std::vector<UserRequest>& requests);
  /// Notes in their entries which operations' requests are complete by now. Cost: one look for messages.
  void look();

 private:
  /// Both leave gaps, which drop_noted() closes.
  void note_arrival(std::size_t index, const MPI_Status& status, int code);
  void give_up(std::size_t index, int code) noexcept;
  void drop_noted();
  void look_one_by_one(int code);

  std::vector<Attended> attended_;
  /// MPICH (4.0) never completes several persistent collectives that it is asked about together.
  std::vector<Entry*> asked_alone_;
  std::vector<Entry*> awaited_;  ///< of the others: whose operations have these requests:
  std::vector<MPI_Request> requests_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace penstock::interpose
