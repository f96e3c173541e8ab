#include "transports/tune/memory.hpp"

#include <cerrno>
#include <cstring>

#include "transports/cuda/driver.hpp"

namespace penstock::transports::tune {

Status Memory::allocate(BufferKind kind, std::size_t bytes) noexcept {
  release();
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  if (kind == BufferKind::device) {
    kind_ = kind;
    return cuda::check(driver->cuMemAlloc(&device_memory_, bytes), "cuMemAlloc");
  }
  if (kind == BufferKind::async_pool) {
    if (driver->cuMemAllocAsync == nullptr || driver->cuMemFreeAsync == nullptr)
      return {Code::declined, "this driver has no memory pools"};
    kind_ = kind;
    Status made =
        cuda::check(driver->cuMemAllocAsync(&device_memory_, bytes, CU_STREAM_LEGACY), "cuMemAllocAsync");
    return made.ok() ? cuda::check(driver->cuStreamSynchronize(CU_STREAM_LEGACY), "cuStreamSynchronize")
                     : made;
  }
  host_memory_ = HostMapping(bytes, -1);
  if (!host_memory_) return {Code::out_of_memory, "mmap", errno};
  std::memset(host_memory_.address(), 1, bytes);
  kind_ = BufferKind::pageable;
  if (kind != BufferKind::pinned) return {};
  Status pinned =
      cuda::check(driver->cuMemHostRegister(host_memory_.address(), bytes, CU_MEMHOSTREGISTER_PORTABLE),
                  "cuMemHostRegister");
  if (pinned.ok()) kind_ = kind;
  return pinned;
}

BufferView Memory::view(std::size_t offset, std::size_t bytes) const {
  char* const begin = host_memory_ ? host_memory_.address() : reinterpret_cast<char*>(device_memory_);
  return {inspect(begin + offset), Layout::contiguous(bytes)};
}

void Memory::release() noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver != nullptr && device_memory_ != 0) {
    if (kind_ == BufferKind::async_pool) {
      driver->cuMemFreeAsync(device_memory_, CU_STREAM_LEGACY);
    } else {
      driver->cuMemFree(device_memory_);
    }
  }
  if (driver != nullptr && kind_ == BufferKind::pinned) driver->cuMemHostUnregister(host_memory_.address());
  device_memory_ = 0;
  host_memory_ = {};
  kind_ = BufferKind::unknown;
}

}  // namespace penstock::transports::tune
