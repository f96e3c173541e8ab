// The calls by which programs say what a profiler is to look at, under NVIDIA's names.
#ifndef SIMULATED_GPU_CUDA_PROFILER_API_H
#define SIMULATED_GPU_CUDA_PROFILER_API_H

#include <cuda_runtime_api.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
