#include "interpose/record/gpu/activity_buffers.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace penstock::record {

namespace {

constexpr std::size_t buffer_alignment = 4096;

}  // namespace

ActivityBuffers::ActivityBuffers() {
  all_.reserve(most_buffers);
  empty_.reserve(most_buffers);
  filled_.reserve(most_buffers);
}

void ActivityBuffers::Free::operator()(std::uint8_t* buffer) const noexcept {
  std::free(buffer);
}

ActivityBuffers::Buffer ActivityBuffers::make() noexcept {
  Buffer buffer(static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes)));
  if (buffer) std::memset(buffer.get(), 0, buffer_bytes);
  return buffer;
}

void ActivityBuffers::top_up() noexcept {
  std::unique_lock lock(mutex_);
  while (empty_.size() < spare_buffers && all_.size() < most_buffers) {
    lock.unlock();
    Buffer buffer = make();
    lock.lock();
    if (!buffer || all_.size() == most_buffers) return;
    empty_.push_back(buffer.get());
    all_.push_back(std::move(buffer));
  }
}

std::uint8_t* ActivityBuffers::take_empty() noexcept {
  const std::lock_guard lock(mutex_);
  if (empty_.empty() && all_.size() < most_buffers) {
    if (Buffer buffer = make()) {  // the reader lags behind; one slow call is better than lost records
      empty_.push_back(buffer.get());
      all_.push_back(std::move(buffer));
    }
  }
  if (empty_.empty()) return nullptr;
  std::uint8_t* buffer = empty_.back();
  empty_.pop_back();
  return buffer;
}

void ActivityBuffers::put_filled(FilledBuffer buffer) noexcept {
  {
    const std::lock_guard lock(mutex_);
    filled_.push_back(buffer);
  }
  changed_.notify_one();
}

void ActivityBuffers::put_empty(std::uint8_t* buffer) noexcept {
  const std::lock_guard lock(mutex_);
  empty_.push_back(buffer);
}

std::size_t ActivityBuffers::take_filled(std::span<FilledBuffer, most_buffers> out) noexcept {
  const std::lock_guard lock(mutex_);
  const std::size_t count = filled_.size();
  std::copy(filled_.begin(), filled_.end(), out.begin());
  filled_.clear();
  return count;
}

void ActivityBuffers::wait(std::chrono::milliseconds time) noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return woken_ || !filled_.empty(); });
  woken_ = false;
}

void ActivityBuffers::wake() noexcept {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

}  // namespace penstock::record
