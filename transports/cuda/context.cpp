#include "transports/cuda/context.hpp"

#include <algorithm>
#include <chrono>
#include <list>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "transports/host/in_call.hpp"

namespace penstock::transports::cuda {
namespace {

/// Every context met, most recently used last. Never destroyed: static destructors would run after the
/// driver's.
struct Registry {
  CallersMutex mutex;
  std::list<ContextRef> contexts;
  std::list<ContextRef> dead;  ///< the last ones, as callers may still refer to them

  /// Takes a context out of use. Its streams have died with it.
  void retire(std::list<ContextRef>::iterator context) {
    constexpr std::size_t kept = 16;  // one call meets far fewer
    dead.splice(dead.end(), contexts, context);
    if (dead.size() > kept) dead.pop_front();
  }
  std::vector<CUdevice> retained;  ///< devices whose primary context we hold ourselves
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

/// The last answer that a thread received. Plain data in the static TLS block.
struct Answer {
  std::uint64_t call = 0;  ///< number_of_call() in which it holds; 0: none
  CUcontext handle = nullptr;
  const ContextRef* context = nullptr;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Answer told;

const ContextRef none;

/// Returns false if the context is gone. Drivers before 12.0 have no ids: every context is then taken for
/// alive.
bool id_of(const Driver& driver, CUcontext handle, unsigned long long& id) noexcept {
  id = 0;
  return driver.cuCtxGetId == nullptr || driver.cuCtxGetId(handle, &id) == CUDA_SUCCESS;
}

bool device_of(const Driver& driver, CUcontext handle, CUdevice& device) noexcept {
  if (driver.cuCtxPushCurrent(handle) != CUDA_SUCCESS) return false;
  const bool known = driver.cuCtxGetDevice(&device) == CUDA_SUCCESS;
  CUcontext popped = nullptr;
  driver.cuCtxPopCurrent(&popped);
  return known;
}

CUcontext current(const Driver& driver) noexcept {
  CUcontext handle = nullptr;
  return driver.cuCtxGetCurrent(&handle) == CUDA_SUCCESS ? handle : nullptr;
}

/// Returns null unless the device's primary context exists.
CUcontext active_primary(const Driver& driver, CUdevice device) noexcept {
  unsigned flags = 0;
  int active = 0;
  if (driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || active == 0)
    return nullptr;
  CUcontext handle = nullptr;
  if (driver.cuDevicePrimaryCtxRetain(&handle, device) != CUDA_SUCCESS) return nullptr;
  driver.cuDevicePrimaryCtxRelease(device);  // its life remains the application's business
  return handle;
}

/// Returns the most recently used living context on `device` (-1: on any).
const ContextRef& seen(int device) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto fits = [&](const ContextRef& context) {
    return (device < 0 || context->device() == device) && context->is_alive();
  };
  const auto found = std::find_if(all.contexts.rbegin(), all.contexts.rend(), fits);
  return found == all.contexts.rend() ? none : *found;
}

}  // namespace

const ContextRef& Context::of(CUcontext handle) {
  // one MPI call looks for it often
  const std::uint64_t call = number_of_call();
  if (call == 0 || told.call != call || told.handle != handle) told = {call, handle, &find(handle)};
  return *told.context;
}

const ContextRef& Context::find(CUcontext handle) {
  const Driver* driver = cuda::driver();
  unsigned long long id = 0;
  if (handle == nullptr || driver == nullptr || !id_of(*driver, handle, id)) return none;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto same = [&](const ContextRef& context) { return context->handle() == handle; };
  const auto known = std::find_if(all.contexts.begin(), all.contexts.end(), same);
  if (known != all.contexts.end() && (*known)->id() == id) {
    all.contexts.splice(all.contexts.end(), all.contexts, known);
    return *known;
  }
  // others may have died too, whose handles never appear again
  for (auto each = all.contexts.begin(); each != all.contexts.end();) {
    const auto context = each++;
    if (context == known || !(*context)->is_alive()) all.retire(context);
  }
  CUdevice device = 0;
  if (!device_of(*driver, handle, device)) return none;
  return all.contexts.emplace_back(std::make_shared<Context>(handle, id, device));
}

const ContextRef& Context::of(const Buffer& buffer) {
  return buffer.context != nullptr ? of(buffer.context) : any(buffer.device);
}

const ContextRef& Context::any(int device) {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return none;
  if (device >= 0) {
    if (const ContextRef& there = seen(device)) return there;
    if (const ContextRef& there = find(active_primary(*driver, device))) return there;
  }
  if (const ContextRef& here = find(current(*driver))) return here;
  if (const ContextRef& earlier = seen(-1)) return earlier;
  int devices = 0;
  if (driver->cuDeviceGetCount(&devices) != CUDA_SUCCESS) return none;
  for (CUdevice each = 0; each < devices; ++each) {
    if (const ContextRef& active = find(active_primary(*driver, each))) return active;
  }
  return none;
}

std::vector<ContextRef> Context::met() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return {all.contexts.begin(), all.contexts.end()};
}

CUcontext Context::handle_on(int device) {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return nullptr;
  if (const ContextRef here = find(current(*driver)); here != nullptr && here->device() == device)
    return here->handle();
  if (CUcontext active = active_primary(*driver, device)) return active;
  if (ContextRef there = seen(device)) return there->handle();
  CUcontext made = nullptr;
  if (driver->cuDevicePrimaryCtxRetain(&made, device) != CUDA_SUCCESS) return nullptr;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.retained.push_back(device);
  return made;
}

void Context::drop_all(int timeout_ms) noexcept {
  const Driver* driver = cuda::driver();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (const ContextRef& context : all.contexts) {
    if (driver == nullptr || !context->is_alive()) continue;
    const ContextScope scope(*context);
    for (CUstream stream : context->streams_) {
      while (stream != nullptr && driver->cuStreamQuery(stream) == CUDA_ERROR_NOT_READY &&
             std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
    }
  }
  told = {};
  all.contexts.clear();
  all.dead.clear();
  for (CUdevice device : all.retained) {
    if (driver != nullptr) driver->cuDevicePrimaryCtxRelease(device);
  }
  all.retained.clear();
}

Context::~Context() {
  const Driver* driver = cuda::driver();
  if (driver == nullptr || !is_alive()) return;
  const ContextScope scope(*this);
  if (!scope.status().ok()) return;
  if (flags_.has_value()) flags_->unregister();
  for (CUevent event : idle_events_) driver->cuEventDestroy(event);
  if (mark_ != nullptr) driver->cuEventDestroy(mark_);
  for (CUstream stream : streams_) {
    if (stream != nullptr) driver->cuStreamDestroy(stream);
  }
}

bool Context::is_alive() const noexcept {
  // no thread destroys it while the program's only thread is in a call
  const std::uint64_t call = number_of_call();
  const bool stays_as_it_is = call != 0 && caller_is_inside();
  if (stays_as_it_is && seen_alive_in_.load(std::memory_order_relaxed) == call) return true;
  const Driver* driver = cuda::driver();
  unsigned long long id = 0;
  if (driver == nullptr || !id_of(*driver, handle_, id) || id != id_) return false;
  if (stays_as_it_is) seen_alive_in_.store(call, std::memory_order_relaxed);
  return true;
}

bool Context::all_are_quiet() noexcept try {
  return std::ranges::all_of(met(), [](const ContextRef& context) { return context->is_quiet(); });
} catch (const std::bad_alloc&) {
  return false;
}

bool Context::is_quiet() noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return true;
  const ContextScope scope(*this);
  if (!scope.status().ok()) return true;  // nothing runs in a context that is gone
  if (legacy_stream_is_captured(*driver)) return false;
  const auto is_at_work = [driver](CUstream stream) {
    return driver->cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
  };
  const std::lock_guard lock(mutex_);
  return !is_at_work(CU_STREAM_LEGACY) &&
         std::ranges::none_of(std::array{StreamUse::one_shot, StreamUse::one_shot_beside},
                              [&](StreamUse use) {
                                CUstream const own = streams_[static_cast<std::size_t>(use)];
                                return own != nullptr && is_at_work(own);
                              });
}

Status Context::stream(StreamUse use, CUstream& stream) noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  const std::lock_guard lock(mutex_);
  CUstream& own = streams_[static_cast<std::size_t>(use)];
  if (own == nullptr) {
    const unsigned flags = use == StreamUse::beside_capture ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    // Copies within a GPU, and kernels, need room on its multiprocessors: with this priority their blocks run
    // before the application's next ones (128 KiB beside a kernel that fills an H200: 150 µs instead of
    // 1,050).
    int lowest = 0;
    int highest = 0;
    driver->cuCtxGetStreamPriorityRange(&lowest, &highest);
    if (Status made = check(driver->cuStreamCreateWithPriority(&own, flags, highest), "cuStreamCreate");
        !made.ok()) {
      own = nullptr;
      return made;
    }
  }
  stream = own;
  return {};
}

Status Context::ask_beside_capture(std::uint64_t since_ns, bool& done) noexcept {
  done = false;
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  CUstream behind_legacy = nullptr;
  if (Status made = stream(StreamUse::beside_capture, behind_legacy); !made.ok()) return made;
  const std::lock_guard lock(mutex_);
  if (mark_ == nullptr) {
    if (Status made = check(driver->cuEventCreate(&mark_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
        !made.ok()) {
      mark_ = nullptr;
      return made;
    }
  }
  for (int marks = 0; marks < 2; ++marks) {
    if (marked_ns_ == 0) {
      const std::uint64_t now_ns = steady_now_ns();
      if (Status marked = check(driver->cuEventRecord(mark_, behind_legacy), "cuEventRecord"); !marked.ok())
        return marked;
      marked_ns_ = now_ns;
    }
    CUresult state = driver->cuEventQuery(mark_);
    // on an idle stream the event is reached after some µs; polling lets a caller that repeatedly asks for
    // "now" see it reached
    for (int looks = 1; looks < 64 && state == CUDA_ERROR_NOT_READY; ++looks)
      state = driver->cuEventQuery(mark_);
    if (state == CUDA_ERROR_NOT_READY) return {};
    const std::uint64_t reached_ns = std::exchange(marked_ns_, 0);
    if (Status reached = check(state, "cuEventQuery"); !reached.ok()) return reached;
    note_idle(reached_ns);
    done = reached_ns >= since_ns;
    if (done) return {};  // otherwise an earlier query left the mark
  }
  return {};
}

Status Context::next_pull_stream(CUstream& result) noexcept {
  const unsigned turn = turn_.fetch_add(1, std::memory_order_relaxed);
  return stream(static_cast<StreamUse>(static_cast<unsigned>(StreamUse::pull_0) + turn % 4), result);
}

Status Context::take_event(const ContextRef& context, Event& event) noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  {
    const std::lock_guard lock(context->mutex_);
    if (!context->idle_events_.empty()) {
      event = Event(context, context->idle_events_.back());
      context->idle_events_.pop_back();
      return {};
    }
  }
  CUevent handle = nullptr;
  Status made = check(driver->cuEventCreate(&handle, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  if (made.ok()) event = Event(context, handle);
  return made;
}

Status Context::flags(const FlagPage*& page) noexcept {
  const std::lock_guard lock(mutex_);
  if (!flags_.has_value()) {
    if (Status mapped = flags_.emplace().map(); !mapped.ok()) {
      flags_.reset();
      return mapped;
    }
  }
  page = &*flags_;
  return {};
}

void Context::give_back(CUevent event) noexcept {
  constexpr std::size_t idle_events_kept = 256;
  if (!is_alive()) return;
  {
    const std::lock_guard lock(mutex_);
    if (idle_events_.size() < idle_events_kept) {
      try {
        idle_events_.push_back(event);
        return;
      } catch (const std::bad_alloc&) {
        // then it is not kept
      }
    }
  }
  if (const Driver* driver = cuda::driver()) driver->cuEventDestroy(event);
}

void CaptureScope::exchange() noexcept {
  const Driver* driver = cuda::driver();
  if (driver != nullptr && driver->cuThreadExchangeStreamCaptureMode != nullptr) {
    driver->cuThreadExchangeStreamCaptureMode(&mode_);
  }
}

bool legacy_stream_is_captured(const Driver& driver) noexcept {
  if (driver.cuStreamIsCapturing == nullptr) return false;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver.cuStreamIsCapturing(CU_STREAM_LEGACY, &capture) != CUDA_SUCCESS ||
         capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

ContextScope::ContextScope(const Context& context) noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr || !context.is_alive()) {
    status_ = context_is_gone();
    return;
  }
  status_ = check(driver->cuCtxPushCurrent(context.handle()), "cuCtxPushCurrent");
  pushed_ = status_.ok();
}

ContextScope::~ContextScope() {
  const Driver* driver = cuda::driver();
  CUcontext popped = nullptr;
  if (pushed_ && driver != nullptr) driver->cuCtxPopCurrent(&popped);
}

}  // namespace penstock::transports::cuda
