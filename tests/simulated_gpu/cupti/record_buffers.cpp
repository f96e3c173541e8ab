#include "record_buffers.hpp"

#include <utility>

namespace simulated_gpu::activity {

void RecordBuffers::use(CUpti_BuffersCallbackRequestFunc requested,
                        CUpti_BuffersCallbackCompleteFunc completed) {
  const std::scoped_lock lock(mutex_);
  requested_ = requested;
  completed_ = completed;
}

void RecordBuffers::write_bytes(const void* record, std::size_t bytes) {
  Buffer full;
  {
    const std::scoped_lock lock(mutex_);
    if (current_.capacity - current_.used < bytes) {
      full = std::exchange(current_, {});
      std::size_t most_records = 0;  // zero: as many as fit; nobody here asks for another limit
      if (requested_ != nullptr) requested_(&current_.begin, &current_.capacity, &most_records);
      if (current_.begin == nullptr || current_.capacity < bytes) current_ = {};
    }
    if (current_.begin == nullptr) {
      ++dropped_;
    } else {
      std::memcpy(current_.begin + current_.used, record, bytes);
      current_.used += bytes;
    }
  }
  complete(full);
}

void RecordBuffers::flush() {
  Buffer filled;
  {
    const std::scoped_lock lock(mutex_);
    if (current_.used > 0) filled = std::exchange(current_, {});
  }
  complete(filled);
}

void RecordBuffers::complete(const Buffer& buffer) const {
  if (buffer.begin != nullptr) completed_(nullptr, 0, buffer.begin, buffer.capacity, buffer.used);
}

std::size_t RecordBuffers::take_dropped() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(dropped_, 0);
}

std::size_t record_bytes(CUpti_ActivityKind kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    default:
      return 0;
  }
}

}  // namespace simulated_gpu::activity
