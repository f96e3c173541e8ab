// What the simulated libraries offer one another beyond NVIDIA's names: kernel launches, activity, faults.
// For libcudart, libcupti and <cuda_runtime.h>; programs use only `simulated_gpu_marker`, to know where they
// run.
#ifndef SIMULATED_GPU_H
#define SIMULATED_GPU_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// Present in the simulated libcuda only.
extern const int simulated_gpu_marker;

/// The error that SIMULATED_GPU_FAULTS wants this call of `function` to return, else 0.
int simulated_gpu_injected_fault(const char* function);

/// Says on stderr, if SIMULATED_GPU_VERBOSE is set, that something was asked for that is not simulated.
void simulated_gpu_say_unknown(const char* kind, const char* name);

/// A thread block in execution. `run` (see below) takes the next thread, runs it and comes back for another
/// until none is left, or until a barrier has moved the rest of the block to another fiber (`runner`
/// changed).
struct SimulatedGpuBlock {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t block_index[3];
  uint32_t next_thread;
  uint32_t thread_count;
  uint32_t runner;
};

/// A kernel and a copy of its arguments. Aligned 8-byte words of `arguments` that hold device addresses are
/// replaced by the addresses through which kernels see that memory (the host faults on the former).
struct SimulatedGpuLaunch {
  const void* function;  ///< for its name
  void (*run)(const void* arguments, struct SimulatedGpuBlock* block);
  const void* arguments;
  size_t argument_bytes;
  uint32_t grid[3];
  uint32_t block[3];
  int blocks_meet;  ///< as SimulatedGpuKernel's
};
CUresult simulated_gpu_launch(const struct SimulatedGpuLaunch* launch, CUstream stream);

/// A kernel that the driver launches by name. `arguments` of a launch begin with the function's address; the
/// parameters lie behind it.
struct SimulatedGpuKernel {
  const char* name;
  const void* function;
  void (*run)(const void* arguments, struct SimulatedGpuBlock* block);
  uint32_t parameter_count;
  const size_t* offsets;  ///< of function and parameters in the arguments
  const size_t* sizes;    ///< of them
  size_t argument_bytes;
  int blocks_meet;  ///< its blocks wait for each other, so all must run at a time
};

/// What cuLibraryLoadData takes instead of a fat binary.
#define SIMULATED_GPU_IMAGE_MAGIC 0x6567616d69757067ull
struct SimulatedGpuImage {
  uint64_t magic;
  size_t count;
  const struct SimulatedGpuKernel* kernels;
};

/// Barriers, for use inside a kernel. A warp's is met by the `lanes` of it that have not returned.
void simulated_gpu_block_barrier(void);
void simulated_gpu_warp_barrier(uint32_t lanes);
/// 32 words through which the lanes of the calling thread's warp pass values between two barriers.
uint64_t* simulated_gpu_warp_words(void);

/// Something that the simulated GPU did, or that a thread waited for.
enum SimulatedGpuActivityKind {
  SIMULATED_GPU_KERNEL,
  SIMULATED_GPU_COPY,
  SIMULATED_GPU_PEER_COPY,
  SIMULATED_GPU_SET,
  SIMULATED_GPU_WAIT
};
enum SimulatedGpuWait {
  SIMULATED_GPU_WAIT_EVENT = 1,
  SIMULATED_GPU_WAIT_STREAM_FOR_EVENT = 2,
  SIMULATED_GPU_WAIT_STREAM = 3,
  SIMULATED_GPU_WAIT_CONTEXT = 4
};
struct SimulatedGpuActivity {
  enum SimulatedGpuActivityKind kind;
  enum SimulatedGpuWait wait;
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t correlation;
  uint32_t device;
  uint32_t context;
  uint32_t stream;   ///< 0 if it is none in particular
  uint32_t event;    ///< of a wait; 0 if for none
  const char* name;  ///< of a kernel, mangled; lives as long as the process
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t bytes;
  uint32_t value;   ///< of a set
  int source_kind;  ///< CUpti_ActivityMemoryKind, as all kinds here
  int destination_kind;
  uint32_t source_device;
  uint32_t destination_device;
  int is_async;
};

/// Whoever wants activities. `issued` is called on the application's thread when an operation that will have
/// an activity is queued, `finished` on any thread when it is done, `now_ns` for times. Null: off.
struct SimulatedGpuObserver {
  uint64_t (*now_ns)(void);
  void (*issued)(uint32_t correlation);
  void (*finished)(const struct SimulatedGpuActivity* activity);
};
void simulated_gpu_observe(const struct SimulatedGpuObserver* observer);

/// Has this called at begin and end of cuProfilerStart and cuProfilerStop; null: no more.
void simulated_gpu_watch_profiler(void (*called)(int is_start, int has_ended));

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
