#include "call.hpp"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "faults.hpp"

namespace simulated_gpu {
namespace {

enum class State { fresh, initialised, forked };
std::atomic<State> state{State::fresh};
thread_local int host_functions_running = 0;

// As on a real GPU, a child has no driver: worker threads do not survive the fork.
void lose_driver_in_child() {
  if (state == State::initialised) state = State::forked;
}

}  // namespace

void mark_initialised() noexcept {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, lose_driver_in_child); });
  State expected = State::fresh;
  state.compare_exchange_strong(expected, State::initialised);
}

CUresult admit(const char* function) noexcept {
  if (const CUresult injected = injected_fault(function); injected != CUDA_SUCCESS) return injected;
  if (state.load(std::memory_order_acquire) != State::initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (host_functions_running > 0) return CUDA_ERROR_NOT_PERMITTED;
  return CUDA_SUCCESS;
}

HostFunctionScope::HostFunctionScope() noexcept {
  ++host_functions_running;
}
HostFunctionScope::~HostFunctionScope() {
  --host_functions_running;
}

}  // namespace simulated_gpu
