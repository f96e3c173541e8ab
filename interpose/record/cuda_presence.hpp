// Whether CUDA is in this process, asked without bringing it there: never loads libcuda, never initialises
// it.
#pragma once

#include <cstddef>

namespace penstock::record {

#ifdef PENSTOCK_SIMULATED_GPU
inline constexpr bool gpu_is_simulated = true;
#else
inline constexpr bool gpu_is_simulated = false;
#endif

[[nodiscard]] bool cuda_is_loaded() noexcept;
[[nodiscard]] bool cuda_is_initialised() noexcept;

/// The device of the calling thread's context, else device 0; nothing when CUDA was not initialised.
void copy_device_name(char* name, std::size_t size) noexcept;

}  // namespace penstock::record
