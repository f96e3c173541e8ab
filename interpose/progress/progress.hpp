// Waiting with progress: while a rank waits in one MPI call, payloads that other ranks wait for must advance.
// Knows the request table, not its pending work.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "interpose/calls/errors.hpp"
#include "interpose/progress/posting_forecast.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

struct RequestEntry;

/// Returns true if a blocking call of the MPI library may leave another rank waiting for this one's Penstock
/// work. Callers then use the non-blocking form and wait_polling(). Cost: two or three relaxed loads.
[[nodiscard]] bool must_poll() noexcept;

/// Waits for a request of the MPI library while all pending work advances. Otherwise like PMPI_Wait, except
/// that the caller raises the error (quiet_errors.hpp).
int wait_polling(MPI_Request* request, MPI_Status* status);

/// Waits for a posted operation and returns the code of the call. Raises errors on `communicator`. `status`
/// may be MPI_STATUS_IGNORE.
int finish(Operation operation, MPI_Comm communicator, MPI_Status* status);

/// The same in steps, for a call that waits for several operations at once, with progress() in between.
class Waiting {
 public:
  /// `errors`: where errors are raised; kept() if the operation may outlive the call.
  Waiting(Operation operation, ErrorTarget errors);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  [[nodiscard]] bool step();
  /// Returns whether progress() of the rank's other calls must step it: see Pending.
  [[nodiscard]] Pending::Progress need() const noexcept;
  /// After step() returned true: copies the status that end() will return, without errors.
  void tell(MPI_Status& status) const;
  /// After step() returned true: returns the code of the call; may raise an MPI error.
  int end(MPI_Status* status);

 private:
  std::unique_ptr<RequestEntry> entry_;
  ErrorTarget errors_;
};

/// Steps both, even if the first is not done: neither may wait for the other. Returns whether both are.
[[nodiscard]] inline bool step_both(Waiting& one, Waiting& other) {
  const bool is_one_done = one.step();
  return other.step() && is_one_done;
}

/// Steps everything that needs it. Thread: any.
void progress();

/// Called before a send is posted in a call that waits for nothing. Returns true if there were sends since
/// the rank's last wait and, as in the previous round, others will follow this one.
[[nodiscard]] bool amid_sends();

/// Returns true if the rank is expected to compute between what it posts now and its wait, as in the previous
/// round.
[[nodiscard]] bool computes_before_it_waits();

/// Called when something was posted in a call that waits for nothing: starts large payloads that have arrived
/// for earlier receives. `takes_long`: posting may have taken many microseconds, as for a send from a device.
/// Cost without a GPU in use: two loads.
void begin_large_arrivals(Posted posted, bool takes_long);

/// Completes what other ranks may need of this one. Called before a blocking call of the MPI library that
/// cannot be stepped and may last until other ranks have progressed. Payloads on their way here are received;
/// those that this rank sends are fetched or, if the receiver is late, buffered. Cost without pending work:
/// two relaxed loads.
void settle();
/// The same for a call that ends soon after others have arrived at it: waits no longer than until then.
void settle_until(const std::function<bool()>& others_have_come);

/// Records that a device buffer was seen: from now on blocking calls of all ranks of the node poll, and
/// kernels are recorded.
void note_gpu_use() noexcept;

/// Spins for a bounded time, then yields the processor, as there may be more ranks than cores.
class Backoff {
 public:
  void pause() noexcept;

 private:
  unsigned rounds_ = 0;
};

/// Calls `is_over()` until it returns true, with progress in between.
template <typename IsOver>
void wait_with_progress(IsOver is_over) {
  for (Backoff backoff; !is_over(); backoff.pause()) progress();
}

}  // namespace penstock::interpose
