// Errors on demand: SIMULATED_GPU_FAULTS="cuMemAlloc_v2:2@5x1,cuIpcOpenMemHandle_v2:101" lets the named
// function, driver or runtime, return that code, from its 5th call on (@, default the 1st), once (x, default
// for ever). Knows only names and numbers.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simulated_gpu {

struct Fault {
  std::string function;
  int error = 0;
  std::uint64_t from_call = 1;
  std::uint64_t times = UINT64_MAX;
};

/// Parses the variable's value. An entry that cannot be read is said on stderr by name and left out.
[[nodiscard]] std::vector<Fault> parse_faults(std::string_view text);

/// The error that this call of `function` is to return; CUDA_SUCCESS mostly. Counts calls. Thread: any.
[[nodiscard]] CUresult injected_fault(const char* function) noexcept;

}  // namespace simulated_gpu
