// Streams, events and launches.
#include <cuda_runtime.h>

#include <cstring>

#include "runtime_call.hpp"

using namespace simulated_gpu::runtime;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return runtime_call(__func__, [&] { return cuStreamCreate(stream, CU_STREAM_DEFAULT); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return runtime_call(__func__, [&] { return cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return runtime_call(__func__, [&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return runtime_call(__func__, [&] { return cuStreamDestroy(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return runtime_call(__func__, [&] { return cuStreamQuery(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return runtime_call(__func__, [&] { return cuStreamSynchronize(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return runtime_call(__func__, [&] { return cuStreamWaitEvent(stream, event, flags); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return runtime_call(__func__,
                      [&] { return cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return runtime_call(__func__, [&] { return cuStreamEndCapture(stream, graph); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return runtime_call(__func__, [&] { return cuGraphInstantiate(executable, graph, flags); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return runtime_call(__func__, [&] { return cuGraphLaunch(executable, stream); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return runtime_call(__func__, [&] { return cuGraphExecDestroy(executable); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return runtime_call(__func__, [&] { return cuGraphDestroy(graph); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return runtime_call(__func__, [&] { return cuLaunchHostFunc(stream, function, data); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return runtime_call(__func__, [&] { return cuEventCreate(event, CU_EVENT_DEFAULT); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return runtime_call(__func__, [&] { return cuEventCreate(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return runtime_call(__func__, [&] { return cuEventDestroy(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return runtime_call(__func__, [&] { return cuEventRecord(event, stream); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return runtime_call(__func__, [&] { return cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return runtime_call(__func__, [&] { return cuEventSynchronize(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return runtime_call(__func__, [&] { return cuEventElapsedTime(milliseconds, start, end); });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return runtime_call(
      __func__, [&] { return cuIpcGetEventHandle(reinterpret_cast<CUipcEventHandle*>(handle), event); });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return runtime_call(__func__, [&] {
    CUipcEventHandle same{};
    std::memcpy(&same, &handle, sizeof same);
    return cuIpcOpenEventHandle(event, same);
  });
}

/// What cudaLaunchKernelEx of the simulated <cuda_runtime.h> calls.
extern "C" cudaError_t simulated_gpu_runtime_launch(const SimulatedGpuLaunch* launch, cudaStream_t stream) {
  return runtime_call("cudaLaunchKernelExC", [&] {
    const CUresult result = simulated_gpu_launch(launch, stream);
    return result == CUDA_ERROR_INVALID_VALUE ? static_cast<CUresult>(cudaErrorInvalidConfiguration) : result;
  });
}
