#include "interpose/windows/memory/allocated_memory.hpp"

#include <cerrno>
#include <utility>

#include "transports/cuda/driver.hpp"
#include "transports/machine.hpp"

namespace penstock::interpose {

namespace cuda = transports::cuda;

AllocatedMemory& AllocatedMemory::operator=(AllocatedMemory&& other) noexcept {
  std::swap(host_, other.host_);
  std::swap(context_, other.context_);
  std::swap(device_, other.device_);
  return *this;
}

AllocatedMemory::~AllocatedMemory() {
  const cuda::Driver* const driver = cuda::driver();
  if (device_ == 0 || driver == nullptr || !context_->is_alive()) return;
  const cuda::ContextScope scope(*context_);
  if (scope.status().ok()) driver->cuMemFree(device_);
}

Status AllocatedMemory::make(std::size_t bytes, bool on_device, AllocatedMemory& memory) {
  if (bytes == 0) return {};
  if (!on_device) {
    memory.host_ = transports::HostMapping(bytes, -1);
    return memory.host_ ? Status{} : Status{Code::out_of_memory, "mmap", errno};
  }
  if (!transports::cuda_in_use()) return {Code::declined, "this rank uses no GPU"};
  memory.context_ = cuda::Context::any();
  if (memory.context_ == nullptr) memory.context_ = cuda::Context::of(cuda::Context::handle_on(0));
  if (memory.context_ == nullptr) return {Code::declined, "this rank has no CUDA context"};
  const cuda::ContextScope scope(*memory.context_);
  if (!scope.status().ok()) return scope.status();
  return cuda::check(cuda::driver()->cuMemAlloc(&memory.device_, bytes), "cuMemAlloc");
}

void* AllocatedMemory::address() const noexcept {
  return device_ != 0 ? reinterpret_cast<void*>(device_) : host_.address();
}

}  // namespace penstock::interpose
