// The kernels as the simulated driver takes them: functions of the host, by name.
#include "transports/kernels/image.hpp"
#include "transports/kernels/kernels.cu"

namespace penstock::transports::kernels {

const void* image() noexcept {
#define PENSTOCK_COPY_ROW(capacity) \
  simulated_gpu::kernel_row("penstock_copy_" #capacity, penstock_copy_##capacity),
  static const SimulatedGpuKernel rows[] = {PENSTOCK_COPY_CAPACITIES(PENSTOCK_COPY_ROW)};
#undef PENSTOCK_COPY_ROW
  static const SimulatedGpuImage table = {SIMULATED_GPU_IMAGE_MAGIC, sizeof(rows) / sizeof(rows[0]), rows};
  return &table;
}

}  // namespace penstock::transports::kernels
