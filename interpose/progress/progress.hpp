// Waiting without standing still: while a rank waits in one MPI call, payloads that other ranks wait for must
// go on. Knows the side table, not what hangs in it.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "interpose/calls/errors.hpp"
#include "interpose/progress/posting_forecast.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

struct Entry;

/// True when a blocking call of the MPI library may leave another rank waiting for this one's Penstock work:
/// callers then use the non-blocking form and wait_polling(). Cost: two or three relaxed loads.
[[nodiscard]] bool must_poll() noexcept;

/// Waits for a request of the MPI library while all pending work goes on. As PMPI_Wait otherwise, but for the
/// caller to raise the error (quiet_errors.hpp).
int wait_polling(MPI_Request* request, MPI_Status* status);

/// Waits for a posted operation and returns the code of the call, which is on that communicator and hears of
/// its errors; `status` may be MPI_STATUS_IGNORE.
int finish(Operation operation, MPI_Comm communicator, MPI_Status* status);

/// The same in steps, for a call that waits for several operations at once (and progress() in between).
class Waiting {
 public:
  /// `errors`: who hears of them; kept() if the operation may outlive the call.
  Waiting(Operation operation, ErrorTarget errors);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  [[nodiscard]] bool step();
  /// Whether progress() of the rank's other calls must step it: see Pending.
  [[nodiscard]] Pending::Progress need() const noexcept;
  /// After step() returned true: what end() will tell, but for errors.
  void tell(MPI_Status& status) const;
  /// After step() returned true. Returns the code of the call; may raise an MPI error.
  int end(MPI_Status* status);

 private:
  std::unique_ptr<Entry> entry_;
  ErrorTarget errors_;
};

/// One step of everything that needs it. Thread: any.
void progress();

/// Before a send is posted in a call that waits for nothing: there were sends since the rank last waited for
/// something, and by what it did the last time others will follow this one.
[[nodiscard]] bool amid_sends();

/// In a call that has posted something and waits for nothing: large payloads that have come for earlier
/// receives get under way. Without a GPU in use: two loads.
void begin_large_arrivals(Posted posted);

/// Before a blocking call of the MPI library that cannot be stepped and that may not end before other ranks
/// have got on: brings to an end what they may need of this one. Payloads on their way here arrive; those
/// that this rank sends are taken or, if the receiver is late, buffered. Without pending work: two
/// relaxed loads.
void settle();
/// The same, where the call is over soon once others have come to it: not for longer than until then.
void settle_until(const std::function<bool()>& others_have_come);

/// A device buffer was seen: from now on blocking calls of all ranks of the node poll, and kernels are
/// recorded.
void note_gpu_use() noexcept;

/// Spins a bounded time, then yields the processor: ranks may be more than cores.
class Backoff {
 public:
  void pause() noexcept;

 private:
  unsigned rounds_ = 0;
};

}  // namespace penstock::interpose
