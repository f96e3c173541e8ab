// One polling loop: checks for failures of other threads, and yields the core after a while.
#pragma once

#include <sched.h>

#include "examples/gmh/library/failure.hpp"

namespace gmh {

class Waiting {
 public:
  explicit Waiting(Failure& failure) : failure_(failure) {}

  /// Call this after progress. Throws if another thread has failed.
  void restart() {
    check();
    polls_ = 0;
  }

  /// Call this after each poll without progress. Throws if another thread has failed.
  void once() {
    check();
    if (++polls_ > polls_before_yielding) sched_yield();
  }

 private:
  static constexpr unsigned checks_per_notice = 64;
  static constexpr unsigned polls_before_yielding =
      64;  ///< about 100 µs, since each poll queries MPI or CUDA

  void check() {
    failure_.throw_if_set();
    if (++checks_ % checks_per_notice == 0) failure_.poll();
  }

  Failure& failure_;
  unsigned checks_ = 0;
  unsigned polls_ = 0;
};

}  // namespace gmh
