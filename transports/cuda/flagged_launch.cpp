#include "transports/cuda/flagged_launch.hpp"

#include <utility>

#include "transports/host/poll_until_done.hpp"

namespace penstock::transports::cuda {

FlaggedLaunch& FlaggedLaunch::operator=(FlaggedLaunch&& other) noexcept {
  std::swap(what_, other.what_);
  std::swap(flag_, other.flag_);
  std::swap(stream_, other.stream_);
  std::swap(failure_watch_, other.failure_watch_);
  std::swap(in_flight_, other.in_flight_);
  return *this;
}

Status FlaggedLaunch::prepare(const ContextRef& context, CUstream stream) noexcept {
  if (!done()) return {Code::bad_argument, "a launch while the last is in flight"};
  in_flight_ = false;
  if (flag_.context() != context) {
    flag_ = {};
    if (Status taken = CompletionFlag::take(context, flag_); !taken.ok()) return taken;
  }
  flag_.lower();
  stream_ = stream;
  failure_watch_.progress();
  return {};
}

Status FlaggedLaunch::query(bool& done) noexcept {
  done = this->done();
  if (done || !failure_watch_.is_due()) return {};
  return look_for_failure(done);
}

Status FlaggedLaunch::look_for_failure(bool& done) noexcept {
  failure_watch_.progress();
  Status state;
  {
    const ContextScope scope(*flag_.context());
    const Driver* driver = cuda::driver();
    state = scope.status();
    if (state.ok() && driver != nullptr) {
      const CUresult result = driver->cuStreamQuery(stream_);
      if (result == CUDA_ERROR_NOT_READY) return {};
      state = check(result, "cuStreamQuery");
    }
  }
  done = true;
  if (flag_.is_raised()) return {};
  in_flight_ = false;
  if (flag_.context()->is_alive()) flag_.abandon();
  return state.ok() ? Status{Code::cuda_failed, what_} : state;
}

Status FlaggedLaunch::wait() noexcept {
  return poll_until_done([this](bool& done) { return query(done); });
}

}  // namespace penstock::transports::cuda
