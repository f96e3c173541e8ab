#include "context.hpp"

#include <array>
#include <atomic>
#include <map>

#include "activity.hpp"
#include "call.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "registry.hpp"

namespace simulated_gpu {
namespace {

unsigned next_context_id() {
  static std::atomic<unsigned> last{0};
  return ++last;
}

Registry<Context, CUcontext>& contexts() {
  static auto& all = *new Registry<Context, CUcontext>;
  return all;
}

/// Objects of destroyed contexts: streams' workers may still refer to them.
std::vector<std::shared_ptr<Context>>& graveyard() {
  static auto& all = *new std::vector<std::shared_ptr<Context>>;
  return all;
}

struct Primary {
  Context* context = nullptr;
  unsigned retained = 0;
};
std::mutex primaries_mutex;
std::map<int, Primary>& primaries() {
  static auto& all = *new std::map<int, Primary>;
  return all;
}

/// Plain data: static objects of a program may call CUDA when the main thread's other thread_locals are gone.
class ContextStack {
 public:
  [[nodiscard]] bool empty() const noexcept { return depth_ == 0; }
  [[nodiscard]] CUcontext back() const noexcept { return contexts_[depth_ - 1]; }
  void push_back(CUcontext context) {
    require(depth_ < contexts_.size(), CUDA_ERROR_OUT_OF_MEMORY);
    contexts_[depth_++] = context;
  }
  void pop_back() noexcept { --depth_; }

 private:
  std::array<CUcontext, 64> contexts_{};
  std::size_t depth_ = 0;
};
constinit thread_local ContextStack current_stack;

Context& make_context(Device& device, unsigned flags) {
  auto context = std::make_shared<Context>(device, flags);
  Context& made = *context;
  contexts().add(std::move(context));
  return made;
}

void destroy(Context& context) {
  context.synchronise();
  free_allocations_of(context);
  static std::mutex mutex;
  auto buried = contexts().take(context.handle(), CUDA_ERROR_INVALID_CONTEXT);
  const std::scoped_lock lock(mutex);
  graveyard().push_back(std::move(buried));
}

void destroy_primary(Primary& primary) {
  destroy(*primary.context);
  primary = {};
}

}  // namespace

Context::Context(Device& device, unsigned flags)
    : device_(device),
      flags_(flags),
      id_(next_context_id()),
      legacy_(std::make_shared<Stream>(*this, StreamKind::legacy, 0)) {}

std::shared_ptr<Stream> Context::open_stream(StreamKind kind, int priority) {
  auto stream = std::make_shared<Stream>(*this, kind, priority);
  const std::scoped_lock lock(mutex_);
  std::erase_if(queues_, [](const OpenQueue& open) { return open.stream.expired() && open.queue->idle(); });
  queues_.push_back({kind == StreamKind::blocking, stream, stream->queue_});
  return stream;
}

std::vector<std::shared_ptr<WorkQueue>> Context::queues(bool blocking_only) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<WorkQueue>> chosen;
  for (const OpenQueue& open : queues_) {
    if (open.blocking || !blocking_only) chosen.push_back(open.queue);
  }
  return chosen;
}

void Context::synchronise() {
  legacy_->queue_->last().wait();
  for (const auto& queue : queues(false)) queue->last().wait();
}

void Context::synchronise_and_hold_up_others() {
  const std::scoped_lock lock(submit_mutex_);
  synchronise();
}

void Context::enable_peer(const Device& peer) {
  require(&peer != &device_, CUDA_ERROR_INVALID_DEVICE);
  require(peer_access_exists(), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  const std::scoped_lock lock(mutex_);
  require(peers_.insert(peer.number).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
}

void Context::disable_peer(const Device& peer) {
  const std::scoped_lock lock(mutex_);
  require(peers_.erase(peer.number) == 1, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

bool Context::reaches(const Device& other) {
  if (&other == &device_) return true;
  const std::scoped_lock lock(mutex_);
  return peers_.contains(other.number);
}

Context& current_context() {
  require(!current_stack.empty() && current_stack.back() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  const auto context = contexts().get(current_stack.back(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return *context;
}

Context& context_of(CUcontext handle) {
  return *contexts().get(handle, CUDA_ERROR_INVALID_CONTEXT);
}

std::vector<std::shared_ptr<Context>> all_contexts() {
  return contexts().all();
}

Context* active_primary(const Device& device) {
  const std::scoped_lock lock(primaries_mutex);
  return primaries()[device.ordinal].context;
}

}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice ordinal) {
  return driver_call(__func__, [&] {
    require(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
    Device& device = device_at(ordinal);
    const std::scoped_lock lock(primaries_mutex);
    Primary& primary = primaries()[ordinal];
    if (primary.context == nullptr) primary.context = &make_context(device, CU_CTX_SCHED_AUTO);
    ++primary.retained;
    *handle = primary.context->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  return driver_call(__func__, [&] {
    static_cast<void>(device_at(ordinal));
    const std::scoped_lock lock(primaries_mutex);
    Primary& primary = primaries()[ordinal];
    require(primary.retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--primary.retained == 0) destroy_primary(primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
  return driver_call(__func__, [&] {
    static_cast<void>(device_at(ordinal));
    const std::scoped_lock lock(primaries_mutex);
    Primary& primary = primaries()[ordinal];
    if (primary.context != nullptr) destroy_primary(primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  return driver_call(__func__, [&] {
    require(flags != nullptr && active != nullptr, CUDA_ERROR_INVALID_VALUE);
    Context* context = active_primary(device_at(ordinal));
    *flags = context == nullptr ? 0 : context->flags();
    *active = context != nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxCreate(CUcontext* handle, CUctxCreateParams* parameters, unsigned flags, CUdevice ordinal) {
  return driver_call(__func__, [&] {
    require(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
    require(parameters == nullptr, CUDA_ERROR_NOT_SUPPORTED);
    *handle = make_context(device_at(ordinal), flags).handle();
    current_stack.push_back(*handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDestroy(CUcontext handle) {
  return driver_call(__func__, [&] {
    destroy(context_of(handle));
    if (!current_stack.empty() && current_stack.back() == handle) current_stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent(CUcontext handle) {
  return driver_call(__func__, [&] {
    static_cast<void>(context_of(handle));
    current_stack.push_back(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent(CUcontext* handle) {
  return driver_call(__func__, [&] {
    require(!current_stack.empty(), CUDA_ERROR_INVALID_CONTEXT);
    if (handle != nullptr) *handle = current_stack.back();
    current_stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  return driver_call(__func__, [&] {
    if (handle != nullptr) static_cast<void>(context_of(handle));
    if (!current_stack.empty()) current_stack.pop_back();
    if (handle != nullptr) current_stack.push_back(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  return driver_call(__func__, [&] {
    require(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
    *handle = current_stack.empty() ? nullptr : current_stack.back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* ordinal) {
  return driver_call(__func__, [&] {
    require(ordinal != nullptr, CUDA_ERROR_INVALID_VALUE);
    *ordinal = current_context().device().ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return driver_call(__func__, [&] {
    require(id != nullptr, CUDA_ERROR_INVALID_VALUE);
    *id = (handle == nullptr ? current_context() : context_of(handle)).id();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return driver_call(__func__, [&] {
    Context& context = current_context();
    refuse_beside_captures(context);
    const WaitActivity activity(SIMULATED_GPU_WAIT_CONTEXT, context);
    context.synchronise();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return driver_call(__func__, [&] {
    require(flags == 0, CUDA_ERROR_INVALID_VALUE);
    current_context().enable_peer(context_of(peer).device());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return driver_call(__func__, [&] {
    current_context().disable_peer(context_of(peer).device());
    return CUDA_SUCCESS;
  });
}
