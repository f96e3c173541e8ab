// Kernels with the names of NCCL's that run until the host ends them. For a GPU without NCCL.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace penstock::nccl_steps {

/// In memory that both the host and the GPU see.
struct KernelMarks {
  volatile std::uint32_t begun;    ///< set by a kernel to its number
  volatile std::uint32_t may_end;  ///< set by the host: kernels up to that number may end
};

enum class NcclKernel { all_reduce, send_receive };

/// Queues a kernel of one thread. It ends after 20 s at the latest, whatever the host does.
[[nodiscard]] cudaError_t launch(NcclKernel which, KernelMarks* marks, std::uint32_t number,
                                 cudaStream_t stream);

}  // namespace penstock::nccl_steps
