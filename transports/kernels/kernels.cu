// Penstock's kernels. nvcc compiles them to the fat binary that the library carries, and the host's compiler
// for the simulated GPU; only the driver API launches them.
#include <cuda_runtime.h>

#include "transports/kernels/block_counters.cuh"
#include "transports/kernels/copy_batch.cuh"
#include "transports/kernels/launch_end.cuh"
#include "transports/kernels/list_bitmap.cuh"
#include "transports/kernels/list_set.cuh"
#include "transports/kernels/list_unpack.cuh"
#include "transports/kernels/one_shot_collective.cuh"
#include "transports/kernels/reduction.cuh"
#include "transports/kernels/resident.cuh"
#include "transports/kernels/strided_copy.cuh"

namespace penstock::transports::kernels {

#define PENSTOCK_COPY_KERNEL(capacity)                                              \
  extern "C" __global__ void __launch_bounds__(most_threads)                        \
      penstock_copy_##capacity(const __grid_constant__ CopyBatch<capacity> batch) { \
    copy_batch(batch);                                                              \
  }
PENSTOCK_COPY_CAPACITIES(PENSTOCK_COPY_KERNEL)

#define PENSTOCK_STRIDED_COPY_KERNEL(capacity)                                                 \
  extern "C" __global__ void __launch_bounds__(most_threads)                                   \
      penstock_strided_copy_##capacity(const __grid_constant__ StridedBatch<capacity> batch) { \
    strided_copy_batch(batch);                                                                 \
  }
PENSTOCK_STRIDED_CAPACITIES(PENSTOCK_STRIDED_COPY_KERNEL)

extern "C" __global__ void __launch_bounds__(most_threads)
    penstock_gather_runs(const __grid_constant__ RunsCopy copy) {
  copy_runs<true>(copy);
}
extern "C" __global__ void __launch_bounds__(most_threads)
    penstock_scatter_runs(const __grid_constant__ RunsCopy copy) {
  copy_runs<false>(copy);
}

#define PENSTOCK_REDUCTION_KERNEL(name, Type)                               \
  extern "C" __global__ void __launch_bounds__(most_threads)                \
      penstock_reduce_##name(const __grid_constant__ Reduction reduction) { \
    reduce<Type>(reduction);                                                \
    raise_at_end(reduction.flag, reduction.slot);                           \
  }
PENSTOCK_REDUCED_TYPES(PENSTOCK_REDUCTION_KERNEL)

#define PENSTOCK_FUSED_KERNEL(name, run)                                               \
  extern "C" __global__ void __launch_bounds__(most_threads)                           \
      penstock_one_shot_##name(const __grid_constant__ OneShotCollective collective) { \
    run(collective, block_counters[collective.slot].has_given_up, all_of_launch());    \
    conclude_one_shot(collective);                                                     \
  }
#define PENSTOCK_FUSED_REDUCTION_KERNEL(name, Type) PENSTOCK_FUSED_KERNEL(name, (reduce_one_shot<Type, 2>))
PENSTOCK_REDUCED_TYPES(PENSTOCK_FUSED_REDUCTION_KERNEL)
PENSTOCK_FUSED_KERNEL(blocks, place_one_shot)

#define PENSTOCK_LIST_KERNELS(bits)                                                  \
  extern "C" __global__ void __launch_bounds__(list_threads)                         \
      penstock_pack_list_##bits(const __grid_constant__ ListPacking packing) {       \
    pack_list<std::uint##bits##_t>(packing);                                         \
    if (is_last_of_launch(block_counters[packing.slot].finished))                    \
      publish(*packing.flag, conclude_packing<std::uint##bits##_t>(packing));        \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(list_threads)                         \
      penstock_measure_set_##bits(const __grid_constant__ ListPacking packing) {     \
    measure_set<std::uint##bits##_t>(packing);                                       \
    if (is_last_of_launch(block_counters[packing.slot].finished))                    \
      conclude_measuring<std::uint##bits##_t>(packing);                              \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(list_threads)                         \
      penstock_fill_set_##bits(const __grid_constant__ ListPacking packing) {        \
    fill_set<std::uint##bits##_t>(packing);                                          \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(list_threads)                         \
      penstock_unpack_list_##bits(const __grid_constant__ ListUnpacking unpacking) { \
    unpack_list<std::uint##bits##_t>(unpacking);                                     \
    if (is_last_of_launch(block_counters[unpacking.slot].finished))                  \
      publish(*unpacking.flag, conclude_unpacking(unpacking));                       \
  }
PENSTOCK_LIST_KERNELS(32)
PENSTOCK_LIST_KERNELS(64)

extern "C" __global__ void __launch_bounds__(list_threads)
    penstock_place_set(const __grid_constant__ ListPacking packing) {
  count_set(packing);
  __shared__ bool is_last;
  const bool is_last_thread = is_last_of_launch(block_counters[packing.slot].finished);
  if (threadIdx.x == 0) is_last = is_last_thread;
  __syncthreads();
  if (!is_last) return;
  const std::uint32_t said = place_set(packing);
  if (is_last_thread) publish(*packing.flag, said);
}

extern "C" __global__ void __launch_bounds__(resident_threads)
    penstock_resident(const __grid_constant__ ResidentKernel resident) {
  stand_by(resident);
}

}  // namespace penstock::transports::kernels
