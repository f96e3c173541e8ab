#include "transports/stream_order/ready_flags.hpp"

#include <new>

#include "transports/cuda/context.hpp"
#include "transports/device_memory/pinned_memory.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

/// What set_flag_memory() was given.
struct FlagMemory {
  FlagMemory(void* memory, std::size_t bytes) noexcept
      : begin(reinterpret_cast<std::uintptr_t>(memory)), size(bytes), registration(memory, bytes) {}

  std::uintptr_t begin;
  std::size_t size;
  cuda::Registration registration;
};
std::atomic<FlagMemory*> flag_memory{nullptr};

/// As the GPU sees the flag; 0: it does not. The context is current.
CUdeviceptr device_address_of(const cuda::Driver& driver, const cuda::ContextRef& context,
                              std::atomic<std::uint32_t>* flag) noexcept {
  FlagMemory* const memory = flag_memory.load(std::memory_order_acquire);
  if (memory == nullptr || reinterpret_cast<std::uintptr_t>(flag) - memory->begin >= memory->size) return 0;
  CUdeviceptr address = 0;
  if (!memory->registration.ensure(context) ||
      driver.cuMemHostGetDevicePointer(&address, flag, 0) != CUDA_SUCCESS)
    return 0;
  return address;
}

void CUDA_CB store_ready(void* flag) {
  static_cast<std::atomic<std::uint32_t>*>(flag)->store(1, std::memory_order_release);
}

/// When what the event stands for is done. The context is current.
Status signal_behind(const cuda::Driver& driver, const cuda::ContextRef& context, const cuda::Event& event,
                     std::atomic<std::uint32_t>* flag) noexcept {
  CUstream own = nullptr;
  if (Status made = context->stream(cuda::StreamUse::order, own); !made.ok()) return made;
  if (Status ordered = cuda::order_after(event, own); !ordered.ok()) return ordered;
  const CUdeviceptr address =
      driver.cuStreamWriteValue32 == nullptr ? 0 : device_address_of(driver, context, flag);
  if (address != 0 &&
      driver.cuStreamWriteValue32(own, address, 1, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS)
    return {};
  return cuda::check(driver.cuLaunchHostFunc(own, store_ready, flag), "cuLaunchHostFunc");
}

/// True if the driver will set the flag; false if there is nothing (more) to wait for.
bool driver_will_signal(const Place& place, std::atomic<std::uint32_t>* flag) {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || !lives_on_device(place.buffer.kind)) return false;
  if (!cuda::application_is_waited_for()) return false;
  const cuda::ContextRef& context = cuda::Context::of(place.buffer);
  if (context == nullptr || cuda::application_is_idle(*context, place.handed_over_ns)) return false;
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok()) return false;
  cuda::Event event;
  if (cuda::mark_application(context, event).ok() && signal_behind(*driver, context, event, flag).ok())
    return true;
  cuda::wait_for_application(*context);
  return false;
}

}  // namespace

void set_flag_memory(void* memory, std::size_t bytes) noexcept {
  delete flag_memory.exchange(new (std::nothrow) FlagMemory(memory, bytes), std::memory_order_acq_rel);
}

void forget_flag_memory() noexcept {
  delete flag_memory.exchange(nullptr, std::memory_order_acq_rel);
}

void signal_when_ready(const Place& place, std::atomic<std::uint32_t>* flag) noexcept {
  bool later = false;
  try {
    later = driver_will_signal(place, flag);
  } catch (const std::bad_alloc&) {
    if (const cuda::Driver* driver = cuda::driver()) driver->cuStreamSynchronize(CU_STREAM_LEGACY);
  }
  if (!later) flag->store(1, std::memory_order_release);
}

}  // namespace penstock::transports
