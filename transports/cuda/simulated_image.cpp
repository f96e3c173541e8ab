// The kernels as the simulated driver takes them: functions of the host, by name.
#include <dlfcn.h>

#include "transports/cuda/driver.hpp"
#include "transports/cuda/kernel_image.hpp"

// Our library links no driver, so the functions that blocks and warps need are looked up in the simulated one
// on first use.
#define simulated_gpu_block_barrier penstock_block_barrier
#define simulated_gpu_warp_barrier penstock_warp_barrier
#define simulated_gpu_warp_words penstock_warp_words
#include "transports/kernels/kernels.cu"
#undef simulated_gpu_block_barrier
#undef simulated_gpu_warp_barrier
#undef simulated_gpu_warp_words

namespace {

void* find(const char* name) noexcept {
  return dlsym(penstock::transports::cuda::driver()->library, name);
}

}  // namespace

void penstock_block_barrier() {
  static const auto barrier = reinterpret_cast<void (*)()>(find("simulated_gpu_block_barrier"));
  barrier();
}

void penstock_warp_barrier(std::uint32_t lanes) {
  static const auto barrier = reinterpret_cast<void (*)(std::uint32_t)>(find("simulated_gpu_warp_barrier"));
  barrier(lanes);
}

std::uint64_t* penstock_warp_words() {
  static const auto words = reinterpret_cast<std::uint64_t* (*)()>(find("simulated_gpu_warp_words"));
  return words();
}

namespace penstock::transports::kernels {

const void* image() noexcept {
#define PENSTOCK_COPY_ROW(capacity) \
  simulated_gpu::kernel_row("penstock_copy_" #capacity, penstock_copy_##capacity),
#define PENSTOCK_STRIDED_ROW(capacity) \
  simulated_gpu::kernel_row("penstock_strided_copy_" #capacity, penstock_strided_copy_##capacity),
#define PENSTOCK_REDUCE_ROW(name, Type) \
  simulated_gpu::kernel_row("penstock_reduce_" #name, penstock_reduce_##name),
#define PENSTOCK_FUSED_ROW(name, Type) \
  simulated_gpu::kernel_row("penstock_one_shot_" #name, penstock_one_shot_##name),
  static const SimulatedGpuKernel rows[] = {
      PENSTOCK_COPY_CAPACITIES(PENSTOCK_COPY_ROW) PENSTOCK_STRIDED_CAPACITIES(PENSTOCK_STRIDED_ROW)
          simulated_gpu::kernel_row("penstock_gather_runs", penstock_gather_runs),
      simulated_gpu::kernel_row("penstock_scatter_runs", penstock_scatter_runs),
      PENSTOCK_REDUCED_TYPES(PENSTOCK_REDUCE_ROW) PENSTOCK_REDUCED_TYPES(PENSTOCK_FUSED_ROW)
          simulated_gpu::kernel_row("penstock_one_shot_blocks", penstock_one_shot_blocks),
      simulated_gpu::kernel_row("penstock_pack_list_32", penstock_pack_list_32),
      simulated_gpu::kernel_row("penstock_pack_list_64", penstock_pack_list_64),
      simulated_gpu::kernel_row("penstock_measure_set_32", penstock_measure_set_32),
      simulated_gpu::kernel_row("penstock_measure_set_64", penstock_measure_set_64),
      simulated_gpu::kernel_row("penstock_fill_set_32", penstock_fill_set_32),
      simulated_gpu::kernel_row("penstock_fill_set_64", penstock_fill_set_64),
      simulated_gpu::kernel_row("penstock_place_set", penstock_place_set),
      simulated_gpu::kernel_row("penstock_unpack_list_32", penstock_unpack_list_32),
      simulated_gpu::kernel_row("penstock_unpack_list_64", penstock_unpack_list_64),
      simulated_gpu::kernel_row("penstock_resident", penstock_resident, true)};
#undef PENSTOCK_FUSED_ROW
#undef PENSTOCK_REDUCE_ROW
#undef PENSTOCK_STRIDED_ROW
#undef PENSTOCK_COPY_ROW
  static const SimulatedGpuImage table = {SIMULATED_GPU_IMAGE_MAGIC, sizeof(rows) / sizeof(rows[0]), rows};
  return &table;
}

}  // namespace penstock::transports::kernels
