// The boundary of every driver function: whether it may run at all (initialised, not in a forked child, no
// fault asked for), and C++ exceptions turned into result codes. Knows no function's meaning.
#pragma once

#include <cuda.h>

#include <new>

namespace simulated_gpu {

/// Thrown inside the library where a call must fail; never leaves it.
class Failure {
 public:
  explicit Failure(CUresult code) noexcept : code_(code) {}
  [[nodiscard]] CUresult code() const noexcept { return code_; }

 private:
  CUresult code_;
};

inline void require(bool condition, CUresult otherwise) {
  if (!condition) throw Failure(otherwise);
}

/// The error that this call must return before doing anything, or CUDA_SUCCESS.
[[nodiscard]] CUresult admit(const char* function) noexcept;

/// For cuInit: from now on calls are admitted.
void mark_initialised() noexcept;

/// While alive, the thread runs a host function of a stream, where driver calls are not permitted.
class HostFunctionScope {
 public:
  HostFunctionScope() noexcept;
  ~HostFunctionScope();
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};

/// Body of a driver function whose exceptions become its result. `body` returns a CUresult.
template <typename Body>
CUresult guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const Failure& failure) {
    return failure.code();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_OPERATING_SYSTEM;  // std::system_error: threads, locks
  }
}

/// What nearly every driver function is: `return driver_call(__func__, [&] { … return CUDA_SUCCESS; });`
template <typename Body>
CUresult driver_call(const char* function, Body&& body) noexcept {
  if (const CUresult refusal = admit(function); refusal != CUDA_SUCCESS) return refusal;
  return guarded(body);
}

}  // namespace simulated_gpu
