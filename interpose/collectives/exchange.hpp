// A collective call that its ranks carry out by themselves, in steps: what it will do, as a plan, and one
// carrying out of it. Knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "transports/host/status.hpp"

namespace penstock::interpose {

/// Where the messages of one call travel. Calls that may be under way at once have lanes of their own. A
/// value.
struct MessageLane {
  MPI_Comm messages = MPI_COMM_NULL;
  int number = 0;  ///< 0: blocking calls, which come one after the other

  /// Between two ranks there may be two messages at once in each direction.
  static constexpr int tags = 2;
  /// The last ones are those of non-blocking calls, in turns; those before, but for 0, persistent ones'.
  static constexpr int nonblocking = 1024;
  [[nodiscard]] int tag(int which) const noexcept { return number * tags + which; }
};

/// Thread: one at a time. Errors: a code that has not been raised, or a status; the rest goes on all the
/// same, as the other ranks wait for it.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Never blocks. True when this rank's part is over. `scope` is of the call that steps.
  [[nodiscard]] virtual bool step(const CallScope& scope) = 0;
  /// Others may need this rank for what steps bring to an end whatever they do: Pending::Progress::always.
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
  void note(const Exchange& part) noexcept {
    note(part.code_);
    note(part.status_);
  }

 private:
  int code_ = MPI_SUCCESS;
  Status status_;
};

/// Of one that is over. Returns the code of the call.
inline int raise_errors_of(const Exchange& exchange, const ErrorTarget& errors, const char* mpi_call) {
  if (exchange.code() != MPI_SUCCESS) return errors.raise(exchange.code());
  return exchange.status().ok() ? MPI_SUCCESS : errors.raise_status(mpi_call, exchange.status());
}

/// What this rank does in a call, for any number of times. Refers to the user's buffers.
class ExchangePlan {
 public:
  virtual ~ExchangePlan() = default;
  /// The arguments' handles may be freed by the user: keeps what it needs of them.
  virtual void outlive_the_call() = 0;
  /// Whether begin() would not have to wait for the application's kernels.
  [[nodiscard]] virtual bool may_begin() const = 0;
  /// Posts what can be posted at once. The plan must outlive the exchange.
  [[nodiscard]] virtual std::unique_ptr<Exchange> begin(const CallScope& scope, MessageLane lane) const = 0;
};

}  // namespace penstock::interpose
