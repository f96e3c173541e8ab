// One polling loop: checks for failures of other threads, and yields the core after a while.
#pragma once

#include <sched.h>

#include "examples/gmh/library/failure.hpp"

namespace gmh {

class Waiting {
 public:
  explicit Waiting(Failure& failure) : failure_(failure) {}

  /// Call this after progress.
  void restart() {
    failure_.throw_if_set();
    polls_ = 0;
  }

  /// Call this after each poll without progress. Throws if another thread has failed.
  void once() {
    failure_.throw_if_set();
    ++polls_;
    if (polls_ % polls_per_notice == 0) failure_.poll();
    if (polls_ > polls_before_yielding) sched_yield();
  }

 private:
  static constexpr unsigned polls_per_notice = 64;
  static constexpr unsigned polls_before_yielding =
      64;  ///< about 100 µs, since each poll queries MPI or CUDA

  Failure& failure_;
  unsigned polls_ = 0;
};

}  // namespace gmh
