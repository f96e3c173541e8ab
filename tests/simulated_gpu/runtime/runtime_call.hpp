// The boundary of every runtime function: the device's primary context is made current on first use, driver
// results become runtime errors, and the last error is kept by thread. Knows no function's meaning.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace simulated_gpu::runtime {

/// Keeps and returns the error. Runtime and driver share the numbers of those that are simulated.
cudaError_t keep(CUresult result) noexcept;

/// Makes the thread's device's primary context current unless a context already is.
[[nodiscard]] CUresult enter(const char* function) noexcept;

/// The thread's device, changed by cudaSetDevice.
[[nodiscard]] int current_device() noexcept;
[[nodiscard]] CUresult set_current_device(int ordinal) noexcept;
/// The primary context of a device, made if need be.
[[nodiscard]] CUresult primary_context(int ordinal, CUcontext* context) noexcept;
/// For cudaDeviceReset.
[[nodiscard]] CUresult reset_current_device() noexcept;

/// `cudaX(…) { return runtime_call(__func__, [&] { return cuX(…); }); }`
template <typename Body>
cudaError_t runtime_call(const char* function, Body&& body) noexcept {
  if (const CUresult refusal = enter(function); refusal != CUDA_SUCCESS) return keep(refusal);
  return keep(body());
}

}  // namespace simulated_gpu::runtime
