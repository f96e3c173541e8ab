// Reports whether CUDA is in this process, without loading libcuda or initialising it.
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

/// Copies the name of the device of the calling thread's context, or else of device 0; nothing if CUDA was
/// not initialised.
void copy_device_name(char* name, std::size_t size) noexcept;

}  // namespace penstock::record
