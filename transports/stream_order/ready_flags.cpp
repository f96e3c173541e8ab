#include "transports/stream_order/ready_flags.hpp"

#include <array>
#include <new>
#include <utility>

#include "transports/cuda/context.hpp"
#include "transports/device_memory/pinned_memory.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/marks.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

struct FlagMemory {
  FlagMemory(void* memory, std::size_t bytes) noexcept
      : begin(reinterpret_cast<std::uintptr_t>(memory)), size(bytes), registration(memory, bytes) {}

  std::uintptr_t begin;
  std::size_t size;
  cuda::Registration registration;
};
std::atomic<FlagMemory*> flag_memory{nullptr};

/// Returns the flag's address on the GPU, or 0 if the GPU cannot reach it. The context is current.
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

/// Has the flag set behind what is queued in a stream of the context, which is current.
Status signal_in_stream(const cuda::Driver& driver, const cuda::ContextRef& context, CUstream stream,
                        std::atomic<std::uint32_t>* flag) noexcept {
  const CUdeviceptr address =
      driver.cuStreamWriteValue32 == nullptr ? 0 : device_address_of(driver, context, flag);
  if (address != 0 &&
      driver.cuStreamWriteValue32(stream, address, 1, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS)
    return {};
  return cuda::check(driver.cuLaunchHostFunc(stream, store_ready, flag), "cuLaunchHostFunc");
}

/// Has the flag set once what the event covers is done. The context is current.
Status signal_behind(const cuda::Driver& driver, const cuda::Event& event,
                     std::atomic<std::uint32_t>* flag) noexcept {
  const cuda::ContextRef& context = event.context();
  CUstream own = nullptr;
  if (Status made = context->stream(cuda::StreamUse::order, own); !made.ok()) return made;
  if (Status ordered = cuda::order_after(event, own); !ordered.ok()) return ordered;
  return signal_in_stream(driver, context, own, flag);
}

/// Returns true if the driver will set the flag, false if there is nothing (more) to wait for.
bool driver_will_signal(const BufferView& view, std::atomic<std::uint32_t>* flag) {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || !lives_on_device(view.buffer.kind)) return false;
  if (!cuda::application_is_waited_for()) return false;
  const cuda::ContextRef& context = cuda::Context::of(view.buffer);
  if (context == nullptr || cuda::application_is_idle(*context, view.handed_over_ns)) return false;
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok()) return false;
  cuda::Event event;
  if (cuda::mark_application(context, event).ok() && signal_behind(*driver, event, flag).ok()) return true;
  cuda::wait_for_application(*context);
  return false;
}

/// The same, for a mark.
bool driver_will_signal(const Mark& mark) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || is_reached(mark)) return false;
  const cuda::ContextScope scope(*mark.event.context());
  if (!scope.status().ok()) return false;
  if (signal_behind(*driver, mark.event, mark.flag).ok()) return true;
  static_cast<void>(mark.event.wait());
  return false;
}

/// Never destroyed: the driver may be gone by then.
Marks& marks() noexcept {
  alignas(Marks) static std::array<std::byte, sizeof(Marks)> memory;
  static auto& all = *new (memory.data()) Marks;
  return all;
}

/// As signal_when_ready(), for a single view.
void ask_and_signal(const BufferView& view, std::atomic<std::uint32_t>* flag) noexcept {
  bool later = false;
  try {
    later = driver_will_signal(view, flag);
  } catch (const std::bad_alloc&) {
    if (const cuda::Driver* driver = cuda::driver()) driver->cuStreamSynchronize(CU_STREAM_LEGACY);
  }
  if (!later) store_ready(flag);
}

/// Returns false if the view has to be queried.
bool mark(const BufferView& view, std::atomic<std::uint32_t>* flag) {
  if (cuda::driver() == nullptr || !lives_on_device(view.buffer.kind) || !cuda::application_may_be_marked())
    return false;
  const cuda::ContextRef& context = cuda::Context::of(view.buffer);
  const std::uint64_t since_ns = view.handed_over_ns != 0 ? view.handed_over_ns : steady_now_ns();
  if (context == nullptr || context->idle_at_ns() >= since_ns) return false;
  const cuda::ContextScope scope(*context);
  cuda::Event event;
  return scope.status().ok() && cuda::mark_application(context, event).ok() &&
         marks().add({flag, since_ns, std::move(event)});
}

}  // namespace

void set_flag_memory(void* memory, std::size_t bytes) noexcept {
  delete flag_memory.exchange(new (std::nothrow) FlagMemory(memory, bytes), std::memory_order_acq_rel);
}

void forget_flag_memory() noexcept {
  settle_signals();
  marks().end();
  delete flag_memory.exchange(nullptr, std::memory_order_acq_rel);
}

void signal_when_ready(const BufferView& view, std::atomic<std::uint32_t>* flag) noexcept {
  if (!has_marked_signals()) return ask_and_signal(view, flag);
  // a query of the stream itself would find it busy with the events of the marks before
  signal_with_next(view, flag);
  settle_signals();
}

void signal_with_next(const BufferView& view, std::atomic<std::uint32_t>* flag) noexcept {
  try {
    if (mark(view, flag)) return;
  } catch (const std::bad_alloc&) {
    // continue as for a single view
  }
  settle_signals();
  ask_and_signal(view, flag);
}

bool has_marked_signals() noexcept {
  return !marks().are_none();
}

void settle_signals() noexcept {
  if (has_marked_signals()) marks().settle(driver_will_signal);
}

void* address_for_kernels(const Buffer& buffer, std::atomic<std::uint32_t>* flag) {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || !lives_on_device(buffer.kind)) return nullptr;
  const cuda::ContextRef& context = cuda::Context::of(buffer);
  if (context == nullptr) return nullptr;
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok()) return nullptr;
  return reinterpret_cast<void*>(device_address_of(*driver, context, flag));
}

Status signal_behind(const cuda::ContextRef& context, CUstream stream,
                     std::atomic<std::uint32_t>* flag) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  const cuda::ContextScope scope(*context);
  return scope.status().ok() ? signal_in_stream(*driver, context, stream, flag) : scope.status();
}

void forget_signal(const std::atomic<std::uint32_t>* flag) noexcept {
  if (has_marked_signals()) marks().forget(flag);
}

}  // namespace penstock::transports
