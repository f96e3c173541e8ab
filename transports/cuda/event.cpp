#include <utility>

#include "transports/cuda/context.hpp"
#include "transports/host/poll_until_done.hpp"

namespace penstock::transports::cuda {

Event::Event(Event&& other) noexcept
    : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Event::~Event() {
  if (handle_ != nullptr) context_->give_back(handle_);
}

Status Event::record(CUstream stream) noexcept {
  const Driver* driver = cuda::driver();
  return driver == nullptr ? no_driver() : check(driver->cuEventRecord(handle_, stream), "cuEventRecord");
}

Status Event::query(bool& done) const noexcept {
  done = false;
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  if (!context_->is_alive()) return context_is_gone();
  const CaptureScope capture;
  const CUresult result = driver->cuEventQuery(handle_);
  if (result == CUDA_ERROR_NOT_READY) return {};
  done = true;
  return check(result, "cuEventQuery");
}

Status Event::wait() const noexcept {
  return poll_until_done([this](bool& done) { return query(done); });
}

}  // namespace penstock::transports::cuda
