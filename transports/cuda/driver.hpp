// The CUDA driver as one table of functions, found in the libcuda.so.1 that the application has loaded. In a
// job Penstock never loads CUDA by itself: a program without CUDA stays without it. Knows nothing of contexts
// or memory.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "transports/host/status.hpp"

namespace penstock::transports::cuda {

struct Driver {
#define NEEDED(function) decltype(&::function) function = nullptr;
#define OPTIONAL(function) NEEDED(function)
#include "transports/cuda/driver_functions.def"
#undef OPTIONAL
#undef NEEDED
  void* library = nullptr;
};

/// Returns the driver, or null while libcuda is not loaded in the process, if it is unusable, and after
/// close_driver(). The table lives for ever. Cost: 1 ns once found; before, 10 ns, as the dynamic linker's
/// count of loaded objects shows whether another look can help. Thread: any.
[[nodiscard]] const Driver* driver() noexcept;

/// The same, but loads libcuda if it is not loaded yet. For `penstock info`, never in a job.
[[nodiscard]] const Driver* load_driver() noexcept;

/// Makes driver() null from now on: nothing here touches CUDA again.
void close_driver() noexcept;

/// What is called around each function of the table that gives work to a GPU or waits for it, as a recorder
/// has to tell that work from the application's.
struct CallMarks {
  void (*before)() noexcept;
  void (*after)() noexcept;
};
/// `marks` must live for ever. Thread: any. Cost without marks: 1 ns for each of these calls.
void mark_calls(const CallMarks& marks) noexcept;

/// Turns the driver's result into a Status. Closes a driver that reports that it has been torn down.
[[nodiscard]] inline Status check(CUresult result, const char* call) noexcept {
  if (result == CUDA_SUCCESS) return {};
  if (result == CUDA_ERROR_DEINITIALIZED) close_driver();
  const auto code = result == CUDA_ERROR_OUT_OF_MEMORY ? Code::out_of_memory : Code::cuda_failed;
  return {code, call, static_cast<int>(result)};
}

/// The error of calls that need the driver when it is gone.
[[nodiscard]] inline Status no_driver() noexcept {
  return {Code::cuda_failed, "libcuda.so.1", static_cast<int>(CUDA_ERROR_DEINITIALIZED)};
}
/// The same of calls in a context that is gone.
[[nodiscard]] inline Status context_is_gone() noexcept {
  return {Code::cuda_failed, "the CUDA context", static_cast<int>(CUDA_ERROR_CONTEXT_IS_DESTROYED)};
}

}  // namespace penstock::transports::cuda
