// The simulated driver's activities as CUPTI's records.
#pragma once

#include <cupti.h>

#include "simulated_gpu.h"

namespace simulated_gpu::activity {

[[nodiscard]] CUpti_ActivityKind kind_of(const SimulatedGpuActivity& activity) noexcept;
[[nodiscard]] CUpti_ActivityKernel10 kernel_record(const SimulatedGpuActivity& activity) noexcept;
[[nodiscard]] CUpti_ActivityMemcpy6 copy_record(const SimulatedGpuActivity& activity) noexcept;
[[nodiscard]] CUpti_ActivityMemcpyPtoP4 peer_copy_record(const SimulatedGpuActivity& activity) noexcept;
[[nodiscard]] CUpti_ActivityMemset4 set_record(const SimulatedGpuActivity& activity) noexcept;
[[nodiscard]] CUpti_ActivitySynchronization2 wait_record(const SimulatedGpuActivity& activity) noexcept;

}  // namespace simulated_gpu::activity
