// A collective call that its ranks carry out themselves, in steps: a schedule of what this rank does, and a
// run that carries the schedule out once. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "transports/host/status.hpp"

namespace penstock::interpose {

/// The communicator and tags for the messages of one call. Calls that may be in flight at once have different
/// ranges of tags. A value.
struct TagRange {
  MPI_Comm messages = MPI_COMM_NULL;
  int number = 0;  ///< 0: blocking calls, of which one is in flight at a time

  /// Two ranks may have two messages at once in each direction.
  static constexpr int tags = 2;
  /// Number of tag ranges for non-blocking calls, used in turn: the last ones. Those before, except 0, are
  /// for persistent calls.
  static constexpr int nonblocking = 1024;
  [[nodiscard]] int tag(int which) const noexcept { return number * tags + which; }
};

/// Thread: one at a time. Errors: a code that has not been raised, or a status. The run continues after
/// an error, as the other ranks wait for it.
class ScheduleRun {
 public:
  virtual ~ScheduleRun() = default;
  /// Never blocks. Returns true when this rank's part is complete. `scope` is of the call that steps.
  [[nodiscard]] virtual bool step(const CallScope& scope) = 0;
  /// Returns whether others may need this rank for something that steps complete, whatever the others do:
  /// Pending::Progress::always.
  [[nodiscard]] virtual bool is_owed() const = 0;

  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 protected:
  [[nodiscard]] bool is_well() const noexcept { return code_ == MPI_SUCCESS && status_.ok(); }
  void note(int code) noexcept {
    if (code_ == MPI_SUCCESS) code_ = code;
  }
  void note(const Status& status) noexcept {
    if (status_.ok()) status_ = status;
  }
  void note(const ScheduleRun& part) noexcept {
    note(part.code_);
    note(part.status_);
  }

 private:
  int code_ = MPI_SUCCESS;
  Status status_;
};

/// Raises the errors of a completed run. Returns the code of the call.
inline int raise_errors_of(const ScheduleRun& run, const ErrorTarget& errors, const char* mpi_call) {
  if (run.code() != MPI_SUCCESS) return errors.raise(run.code());
  return run.status().ok() ? MPI_SUCCESS : errors.raise_status(mpi_call, run.status());
}

/// The schedule of this rank in a call, for any number of times. Refers to the user's buffers.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Keeps what it needs of the arguments' handles, as the user may free them.
  virtual void outlive_the_call() = 0;
  /// Returns whether begin() would not have to wait for the application's kernels.
  [[nodiscard]] virtual bool may_begin() const = 0;
  /// Posts what can be posted at once. The schedule must outlive the run.
  [[nodiscard]] virtual std::unique_ptr<ScheduleRun> begin(const CallScope& scope, TagRange tags) const = 0;
};

}  // namespace penstock::interpose
