#include "transports/cuda/flag_page.hpp"

#include <utility>

#include "transports/cuda/driver.hpp"
#include "transports/kernels/copy_batch.hpp"

namespace penstock::transports::cuda {
namespace {

constexpr std::size_t flag_bytes = 64;  // a cache line: the CPU polls one while the GPU writes another
constexpr std::size_t mailbox_offset = kernels::slot_count * flag_bytes;
constexpr std::size_t bounce_offset = mailbox_offset + sizeof(kernels::ResidentMailbox);

}  // namespace

FlagPage::~FlagPage() {
  if (is_kept_.load(std::memory_order_relaxed)) static_cast<void>(memory_.release());
}

Status FlagPage::map() noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  HostMapping memory(bounce_offset + kernels::bounce_bytes, -1);
  if (!memory) return {Code::out_of_memory, "mmap"};
  if (Status registered =
          check(driver->cuMemHostRegister(memory.address(), memory.bytes(), CU_MEMHOSTREGISTER_DEVICEMAP),
                "cuMemHostRegister");
      !registered.ok())
    return registered;
  CUdeviceptr address = 0;
  Status mapped =
      check(driver->cuMemHostGetDevicePointer(&address, memory.address(), 0), "cuMemHostGetDevicePointer");
  if (!mapped.ok()) {
    driver->cuMemHostUnregister(memory.address());
    return mapped;
  }
  device_address_ = reinterpret_cast<char*>(address);
  memory_ = std::move(memory);
  return {};
}

void FlagPage::unregister() const noexcept {
  if (const Driver* driver = cuda::driver()) driver->cuMemHostUnregister(memory_.address());
}

std::uint32_t* FlagPage::word(std::uint32_t slot) const noexcept {
  return reinterpret_cast<std::uint32_t*>(memory_.address() + slot * flag_bytes);
}

std::uint32_t* FlagPage::device_word(std::uint32_t slot) const noexcept {
  return reinterpret_cast<std::uint32_t*>(device_address_ + slot * flag_bytes);
}

kernels::ResidentMailbox* FlagPage::mailbox() const noexcept {
  return reinterpret_cast<kernels::ResidentMailbox*>(memory_.address() + mailbox_offset);
}

kernels::ResidentMailbox* FlagPage::device_mailbox() const noexcept {
  return reinterpret_cast<kernels::ResidentMailbox*>(device_address_ + mailbox_offset);
}

char* FlagPage::bounce() const noexcept {
  return memory_.address() + bounce_offset;
}

char* FlagPage::device_bounce() const noexcept {
  return device_address_ + bounce_offset;
}

}  // namespace penstock::transports::cuda
