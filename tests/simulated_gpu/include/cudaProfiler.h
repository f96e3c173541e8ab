// The calls by which programs say what a profiler is to look at, under NVIDIA's names.
#ifndef SIMULATED_GPU_CUDA_PROFILER_H
#define SIMULATED_GPU_CUDA_PROFILER_H

#include <cuda.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
