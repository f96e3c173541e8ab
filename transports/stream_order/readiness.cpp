#include "transports/stream_order/readiness.hpp"

#include <new>

#include "transports/cuda/context.hpp"
#include "transports/device_memory/pinned_memory.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

std::atomic<StreamOrder> chosen_order{StreamOrder::legacy_stream};

/// True if asking the legacy stream would disturb a graph that the application captures.
bool legacy_stream_is_captured(const cuda::Driver& driver) noexcept {
  if (driver.cuStreamIsCapturing == nullptr) return false;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver.cuStreamIsCapturing(CU_STREAM_LEGACY, &capture) != CUDA_SUCCESS ||
         capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// Is nothing left of the work that the application had queued at `since_ns` (0: now) and that would have to
/// be waited for in the context's legacy stream? In order `device` it waits here and now. Errors
/// of the application's own work are left to the application: the copy that follows will meet them too.
bool application_is_idle(const cuda::Driver& driver, cuda::Context& context,
                         std::uint64_t since_ns) noexcept {
  const StreamOrder order = chosen_order.load(std::memory_order_relaxed);
  if (order == StreamOrder::none) return true;
  if (since_ns != 0 && context.idle_at_ns() >= since_ns) return true;
  const std::uint64_t asked_ns = steady_now_ns();
  const cuda::ContextScope scope(context);
  if (!scope.status().ok()) return true;  // nothing runs in a context that is gone
  if (legacy_stream_is_captured(driver)) {
    // in order `device`, too: waiting for the context would spoil the capture
    bool done = false;
    const Status told = context.ask_beside_capture(since_ns != 0 ? since_ns : time_of_call_ns(), done);
    return done || !told.ok();
  }
  if (order == StreamOrder::device) {
    driver.cuCtxSynchronize();
  } else if (driver.cuStreamQuery(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY) {
    return false;
  }
  context.note_idle(asked_ns);
  return true;
}

/// The stream in which an event stands for what the application has queued: the legacy stream, or while that
/// must not be touched, one that waits for the legacy stream's own work. No such stream waits for the other
/// blocking streams.
Status stream_behind_application(const cuda::Driver& driver, cuda::Context& context,
                                 CUstream& stream) noexcept {
  stream = CU_STREAM_LEGACY;
  return legacy_stream_is_captured(driver) ? context.stream(cuda::StreamUse::beside_capture, stream)
                                           : Status{};
}

void wait_for_application(const cuda::Driver& driver, cuda::Context& context) noexcept {
  CUstream stream = nullptr;
  if (stream_behind_application(driver, context, stream).ok()) driver.cuStreamSynchronize(stream);
}

Status wait_on_legacy_stream(const cuda::Driver& driver, const cuda::ContextRef& context,
                             CUstream own) noexcept {
  cuda::Event event;
  if (Status taken = cuda::Context::take_event(context, event); !taken.ok()) return taken;
  CUstream theirs = nullptr;
  if (Status found = stream_behind_application(driver, *context, theirs); !found.ok()) return found;
  if (Status recorded = event.record(theirs); !recorded.ok()) return recorded;
  // the stream keeps what the event stood for when it was told to wait, so the event may go back at once
  return cuda::check(driver.cuStreamWaitEvent(own, event.handle(), CU_EVENT_WAIT_DEFAULT),
                     "cuStreamWaitEvent");
}

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

Status signal_later(const cuda::Driver& driver, const cuda::ContextRef& context,
                    std::atomic<std::uint32_t>* flag) noexcept {
  CUstream own = nullptr;
  if (Status made = context->stream(cuda::StreamUse::order, own); !made.ok()) return made;
  if (Status ordered = wait_on_legacy_stream(driver, context, own); !ordered.ok()) return ordered;
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
  if (chosen_order.load(std::memory_order_relaxed) == StreamOrder::none) return false;
  const cuda::ContextRef& context = cuda::Context::of(place.buffer);
  if (context == nullptr || application_is_idle(*driver, *context, place.handed_over_ns)) return false;
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok()) return false;
  if (signal_later(*driver, context, flag).ok()) return true;
  wait_for_application(*driver, *context);
  return false;
}

}  // namespace

void set_stream_order(StreamOrder order) noexcept {
  chosen_order.store(order, std::memory_order_relaxed);
}

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

bool is_idle(const Place& place) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || !lives_on_device(place.buffer.kind)) return true;
  try {
    const cuda::ContextRef& context = cuda::Context::of(place.buffer);
    return context == nullptr || application_is_idle(*driver, *context, place.handed_over_ns);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Status health_of(const Place& place) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || !lives_on_device(place.buffer.kind)) return {};
  return guarded([&]() -> Status {
    const cuda::ContextRef context = cuda::Context::of(place.buffer);
    if (context == nullptr) return {Code::cuda_failed, "the CUDA context", CUDA_ERROR_CONTEXT_IS_DESTROYED};
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return scope.status();
    if (legacy_stream_is_captured(*driver)) return {};
    const CUresult state = driver->cuStreamQuery(CU_STREAM_LEGACY);
    return state == CUDA_ERROR_NOT_READY ? Status{} : cuda::check(state, "the application's earlier work");
  });
}

namespace cuda {

Status order_after_application(const ContextRef& context, CUstream own, std::uint64_t since_ns) noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  if (application_is_idle(*driver, *context, since_ns)) return {};
  return wait_on_legacy_stream(*driver, context, own);
}

}  // namespace cuda
}  // namespace penstock::transports
