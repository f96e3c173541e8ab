#include "transports/stream_order/readiness.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "transports/cuda/context.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

std::atomic<StreamOrder> chosen_order{StreamOrder::legacy_stream};

/// Finds the stream in which an event covers what the application has queued: the legacy stream, or, while
/// that must not be touched, a stream that waits for the legacy stream's own work. The latter does not wait
/// for the other blocking streams.
Status stream_behind_application(const cuda::Driver& driver, cuda::Context& context,
                                 CUstream& stream) noexcept {
  stream = CU_STREAM_LEGACY;
  return cuda::legacy_stream_is_captured(driver) ? context.stream(cuda::StreamUse::beside_capture, stream)
                                                 : Status{};
}

}  // namespace

void set_stream_order(StreamOrder order) noexcept {
  chosen_order.store(order, std::memory_order_relaxed);
}

bool is_idle(const BufferView& view) noexcept {
  if (cuda::driver() == nullptr || view.is_free) return true;
  if (view.is_scattered()) [[unlikely]] {
    return std::ranges::all_of(*view.parts, [&](const ViewPart& part) {
      return is_idle({part.view.buffer, {}, view.handed_over_ns});
    });
  }
  if (!lives_on_device(view.buffer.kind)) return true;
  try {
    const cuda::ContextRef& context = cuda::Context::of(view.buffer);
    return context == nullptr || cuda::application_is_idle(*context, view.handed_over_ns);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void note_done(const BufferView& view) noexcept {
  if (view.handed_over_ns == 0 || !lives_on_device(view.buffer.kind)) return;
  try {
    if (const cuda::ContextRef& context = cuda::Context::of(view.buffer))
      context->note_idle_since(view.handed_over_ns);
  } catch (const std::bad_alloc&) {
    // then the copy queries for itself
  }
}

Status health_of(const BufferView& view) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || !lives_on_device(view.buffer.kind)) return {};
  return guarded([&]() -> Status {
    const cuda::ContextRef context = cuda::Context::of(view.buffer);
    if (context == nullptr) return cuda::context_is_gone();
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return scope.status();
    if (cuda::legacy_stream_is_captured(*driver)) return {};
    const CUresult state = driver->cuStreamQuery(CU_STREAM_LEGACY);
    return state == CUDA_ERROR_NOT_READY ? Status{} : cuda::check(state, "the application's earlier work");
  });
}

namespace cuda {

bool application_is_waited_for() noexcept {
  return chosen_order.load(std::memory_order_relaxed) != StreamOrder::none;
}

bool application_may_be_marked() noexcept {
  return chosen_order.load(std::memory_order_relaxed) == StreamOrder::legacy_stream;
}

bool application_is_idle(Context& context, std::uint64_t since_ns) noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return true;
  const StreamOrder order = chosen_order.load(std::memory_order_relaxed);
  if (order == StreamOrder::none) return true;
  if (since_ns != 0 && context.idle_at_ns() >= since_ns) return true;
  const std::uint64_t asked_ns = steady_now_ns();
  const ContextScope scope(context);
  if (!scope.status().ok()) return true;  // nothing runs in a context that is gone
  if (legacy_stream_is_captured(*driver)) {
    // in order `device`, too: waiting for the context would spoil the capture
    bool done = false;
    const Status told = context.ask_beside_capture(since_ns != 0 ? since_ns : time_of_call_ns(), done);
    return done || !told.ok();
  }
  if (order == StreamOrder::device) {
    driver->cuCtxSynchronize();
  } else if (driver->cuStreamQuery(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY) {
    return false;
  }
  context.note_idle(asked_ns);
  return true;
}

void wait_for_application(Context& context) noexcept {
  const Driver* driver = cuda::driver();
  CUstream stream = nullptr;
  if (driver != nullptr && stream_behind_application(*driver, context, stream).ok())
    driver->cuStreamSynchronize(stream);
}

Status mark_application(const ContextRef& context, Event& event) noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  if (Status taken = Context::take_event(context, event); !taken.ok()) return taken;
  CUstream theirs = nullptr;
  if (Status found = stream_behind_application(*driver, *context, theirs); !found.ok()) return found;
  return event.record(theirs);
}

Status order_after(const Event& event, CUstream own) noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  // the stream keeps what the event covered when the wait was queued, so the event may be given back at once
  return check(driver->cuStreamWaitEvent(own, event.handle(), CU_EVENT_WAIT_DEFAULT), "cuStreamWaitEvent");
}

Status order_after_application(const ContextRef& context, CUstream own, std::uint64_t since_ns) noexcept {
  if (cuda::driver() == nullptr) return no_driver();
  if (application_is_idle(*context, since_ns)) return {};
  Event event;
  if (Status marked = mark_application(context, event); !marked.ok()) return marked;
  return order_after(event, own);
}

Status take_blocking_stream(const ContextRef& context, StreamUse use, std::uint64_t since_ns,
                            CUstream& own) noexcept {
  if (application_is_idle(*context, since_ns)) return context->stream(use, own);
  if (Status made = context->stream(StreamUse::blocking_in_order, own); !made.ok()) return made;
  return order_after_application(context, own, since_ns);
}

}  // namespace cuda
}  // namespace penstock::transports
