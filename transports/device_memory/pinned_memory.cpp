#include "transports/device_memory/pinned_memory.hpp"

#include <atomic>
#include <vector>

namespace penstock::transports::cuda {
namespace {

struct IdleBounces {
  IdleBounces() { bounces.reserve(Bounce::most_kept); }
  std::mutex mutex;
  std::vector<std::unique_ptr<Bounce>> bounces;
};

std::atomic<CUresult> untold_refusal{CUDA_SUCCESS};

IdleBounces& idle() {
  static auto* const instance = new IdleBounces;
  return *instance;
}

}  // namespace

Registration::~Registration() {
  const Driver* driver = cuda::driver();
  if (driver == nullptr || !registered_) return;
  const ContextScope scope(*tried_in_);
  if (scope.status().ok()) driver->cuMemHostUnregister(memory_);
}

bool Registration::ensure(const ContextRef& context) noexcept {
  const Driver* driver = cuda::driver();
  const std::lock_guard lock(mutex_);
  if (driver == nullptr) return false;
  if (tried_in_ == nullptr || !tried_in_->is_alive()) {
    tried_in_ = context;
    const CUresult result = driver->cuMemHostRegister(memory_, bytes_, CU_MEMHOSTREGISTER_PORTABLE);
    registered_ = result == CUDA_SUCCESS;
    if (!registered_) untold_refusal.store(result, std::memory_order_relaxed);
  }
  return registered_;
}

bool Registration::is_there() noexcept {
  const std::lock_guard lock(mutex_);
  return registered_;
}

Status Registration::take_refusal() noexcept {
  // mostly there is none: no write to what all threads read
  if (untold_refusal.load(std::memory_order_relaxed) == CUDA_SUCCESS) return {};
  return check(untold_refusal.exchange(CUDA_SUCCESS, std::memory_order_relaxed), "cuMemHostRegister");
}

void Bounce::GiveBack::operator()(Bounce* bounce) const noexcept {
  std::unique_ptr<Bounce> surplus(bounce);
  const std::lock_guard lock(idle().mutex);
  auto& bounces = idle().bounces;
  if (bounces.size() < Bounce::most_kept) bounces.push_back(std::move(surplus));
}

Bounce::Loan Bounce::take(const ContextRef& context) {
  Loan bounce;
  {
    const std::lock_guard lock(idle().mutex);
    auto& bounces = idle().bounces;
    if (!bounces.empty()) {
      bounce.reset(bounces.back().release());
      bounces.pop_back();
    }
  }
  if (bounce == nullptr) {
    HostMapping mapping(depth * chunk_bytes, -1);
    if (!mapping) return nullptr;
    bounce.reset(new Bounce(std::move(mapping)));
  }
  bounce->pinned_ = bounce->memory_.pin(context);
  return bounce;
}

void Bounce::drop_idle() noexcept {
  const std::lock_guard lock(idle().mutex);
  idle().bounces.clear();
}

}  // namespace penstock::transports::cuda
