// What a CUDA source file sees beyond the runtime API: kernel qualifiers, launches, and what kernels call.
// Kernels compile as plain C++ and are launched with cudaLaunchKernelEx, which is legal C++ with NVIDIA's
// header too. Dynamic shared memory, textures, device variables' symbols and <<< >>> are not simulated.
#ifndef SIMULATED_GPU_CUDA_RUNTIME_H
#define SIMULATED_GPU_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "simulated_gpu.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
/// A block runs on one thread of the host, all its fibers included, and blocks of one thread run one after
/// another.
#define __shared__ static thread_local

inline thread_local uint3 threadIdx{};
inline thread_local uint3 blockIdx{};
inline thread_local uint3 blockDim{};
inline thread_local uint3 gridDim{};
constexpr int warpSize = 32;

namespace simulated_gpu {

/// Arguments behind one another, each aligned: plain bytes that the driver may copy and translate.
template <typename... Arguments>
struct Packing {
  static_assert((std::is_trivially_copyable_v<Arguments> && ...), "a kernel's arguments must be plain data");

  struct Layout {
    std::size_t offsets[sizeof...(Arguments) + 1];
    std::size_t bytes;
  };
  static constexpr Layout layout = [] {
    Layout made{};
    std::size_t i = 0;
    (
        [&] {
          made.offsets[i] = (made.bytes + alignof(Arguments) - 1) / alignof(Arguments) * alignof(Arguments);
          made.bytes = made.offsets[i] + sizeof(Arguments);
          ++i;
        }(),
        ...);
    return made;
  }();
};

/// Arguments plus the kernel's address, which `run` needs.
template <typename... Arguments>
struct Launcher {
  using Kernel = void (*)(Arguments...);
  using Packed = Packing<Kernel, std::decay_t<Arguments>...>;

  /// Runs threads of a block, see SimulatedGpuBlock.
  static void run(const void* packed, SimulatedGpuBlock* block) {
    run_threads(static_cast<const char*>(packed), *block, std::index_sequence_for<Arguments...>());
  }

 private:
  template <std::size_t... Index>
  static void run_threads(const char* packed, SimulatedGpuBlock& block, std::index_sequence<Index...>) {
    const Kernel kernel = *reinterpret_cast<const Kernel*>(packed);
    const std::uint32_t runner = block.runner;
    blockDim = {block.block[0], block.block[1], block.block[2]};
    gridDim = {block.grid[0], block.grid[1], block.grid[2]};
    blockIdx = {block.block_index[0], block.block_index[1], block.block_index[2]};
    while (block.next_thread < block.thread_count) {
      const std::uint32_t thread = block.next_thread++;
      threadIdx = {thread % block.block[0], thread / block.block[0] % block.block[1],
                   thread / (block.block[0] * block.block[1])};
      kernel(
          *reinterpret_cast<const std::decay_t<Arguments>*>(packed + Packed::layout.offsets[Index + 1])...);
      if (block.runner != runner) return;  // others go on with the rest
    }
  }
};

/// A row of a SimulatedGpuImage.
template <typename... Parameters>
SimulatedGpuKernel kernel_row(const char* name, void (*kernel)(Parameters...), bool blocks_meet = false) {
  using Launcher = Launcher<Parameters...>;
  static constexpr std::size_t sizes[] = {sizeof(kernel), sizeof(Parameters)...};
  return {name,
          reinterpret_cast<const void*>(kernel),
          &Launcher::run,
          sizeof...(Parameters),
          Launcher::Packed::layout.offsets,
          sizes,
          Launcher::Packed::layout.bytes,
          blocks_meet};
}

/// Calls a barrier, after which other threads of the block have run here.
template <typename Barrier>
void keep_position(Barrier&& barrier) {
  const uint3 mine = threadIdx;
  barrier();
  threadIdx = mine;
}

inline unsigned lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % warpSize;
}

/// Every lane of `lanes` gives a value and gets that of lane `from`.
template <typename Value>
Value exchange(unsigned lanes, Value value, unsigned from) {
  static_assert(sizeof(Value) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<Value>);
  Value* const given = reinterpret_cast<Value*>(simulated_gpu_warp_words() + lane());
  const unsigned source = (lanes >> (from % warpSize) & 1u) != 0 ? from % warpSize : lane();
  *given = value;
  keep_position([&] { simulated_gpu_warp_barrier(lanes); });
  const Value taken = *reinterpret_cast<const Value*>(simulated_gpu_warp_words() + source);
  keep_position([&] { simulated_gpu_warp_barrier(lanes); });
  return taken;
}

}  // namespace simulated_gpu

namespace simulated_gpu {
/// As an argument is to its parameter's type.
template <typename Parameter>
Parameter converted(Parameter argument) {
  return argument;
}
}  // namespace simulated_gpu

extern "C" __attribute__((visibility("default"))) cudaError_t simulated_gpu_runtime_launch(
    const SimulatedGpuLaunch* launch, cudaStream_t stream);

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  using Launcher = simulated_gpu::Launcher<Parameters...>;
  using Packed = typename Launcher::Packed;
  alignas(std::max_align_t) char packed[Packed::layout.bytes] = {};
  *reinterpret_cast<void (**)(Parameters...)>(packed) = kernel;
  std::size_t index = 1;
  const auto pack = [&](auto value) {
    new (packed + Packed::layout.offsets[index++]) decltype(value)(value);
  };
  (pack(simulated_gpu::converted<std::decay_t<Parameters>>(std::forward<Arguments>(arguments))), ...);
  const SimulatedGpuLaunch launch{reinterpret_cast<const void*>(kernel),
                                  &Launcher::run,
                                  packed,
                                  sizeof packed,
                                  {config->gridDim.x, config->gridDim.y, config->gridDim.z},
                                  {config->blockDim.x, config->blockDim.y, config->blockDim.z},
                                  {}};
  return simulated_gpu_runtime_launch(&launch, config->stream);
}

// Typed forms of the allocating calls
template <typename T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = cudaHostAllocDefault) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <typename T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <typename T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}

// Barriers and warps
inline void __syncthreads() {
  simulated_gpu::keep_position(simulated_gpu_block_barrier);
}
inline void __syncwarp(unsigned lanes = 0xffffffffu) {
  simulated_gpu::keep_position([&] { simulated_gpu_warp_barrier(lanes); });
}
template <typename T>
T __shfl_sync(unsigned lanes, T value, int from, int width = warpSize) {
  const unsigned first = simulated_gpu::lane() / static_cast<unsigned>(width) * static_cast<unsigned>(width);
  return simulated_gpu::exchange(lanes, value,
                                 first + static_cast<unsigned>(from) % static_cast<unsigned>(width));
}
template <typename T>
T __shfl_down_sync(unsigned lanes, T value, unsigned distance, int width = warpSize) {
  const unsigned lane = simulated_gpu::lane();
  const bool inside = lane % static_cast<unsigned>(width) + distance < static_cast<unsigned>(width);
  return simulated_gpu::exchange(lanes, value, inside ? lane + distance : lane);
}
template <typename T>
T __shfl_up_sync(unsigned lanes, T value, unsigned distance, int width = warpSize) {
  const unsigned lane = simulated_gpu::lane();
  const bool inside = lane % static_cast<unsigned>(width) >= distance;
  return simulated_gpu::exchange(lanes, value, inside ? lane - distance : lane);
}
template <typename T>
T __shfl_xor_sync(unsigned lanes, T value, int mask, int width = warpSize) {
  const unsigned lane = simulated_gpu::lane();
  const unsigned partner = lane ^ static_cast<unsigned>(mask);
  const bool inside = partner / static_cast<unsigned>(width) <= lane / static_cast<unsigned>(width);
  return simulated_gpu::exchange(lanes, value, inside ? partner : lane);
}
inline unsigned __ballot_sync(unsigned lanes, int predicate) {
  unsigned bits = 0;
  *(simulated_gpu_warp_words() + simulated_gpu::lane()) = predicate != 0;
  __syncwarp(lanes);
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if ((lanes >> lane & 1u) != 0 && simulated_gpu_warp_words()[lane] != 0) bits |= 1u << lane;
  }
  __syncwarp(lanes);
  return bits;
}
inline int __any_sync(unsigned lanes, int predicate) {
  return __ballot_sync(lanes, predicate) != 0;
}
inline int __all_sync(unsigned lanes, int predicate) {
  return __ballot_sync(lanes, !predicate) == 0;
}

// Atomics and fences: streams of several threads and processes meet in device memory
inline void __threadfence() {
#ifdef __SANITIZE_THREAD__
  static unsigned
      met;  // ThreadSanitizer knows no fences; all that pass here are ordered by this word instead
  __atomic_fetch_add(&met, 1u, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void __threadfence_block() {
  __threadfence();
}
inline void __threadfence_system() {
  __threadfence();
}

namespace simulated_gpu {
template <typename T>
struct Same {
  using type = T;
};
/// T, which another argument tells.
template <typename T>
using NotDeduced = typename Same<T>::type;

/// Replaces the value by `next(value)` and returns the old one.
template <typename T, typename Next>
T atomically(T* address, Next&& next) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (;;) {
    T desired = next(old);
    if (__atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return old;
  }
}
}  // namespace simulated_gpu

template <typename T>
T atomicAdd(T* address, simulated_gpu::NotDeduced<T> value) {
  return simulated_gpu::atomically(address, [value](T old) { return static_cast<T>(old + value); });
}
inline unsigned atomicInc(unsigned* address, unsigned last) {
  return simulated_gpu::atomically(address, [last](unsigned old) { return old >= last ? 0 : old + 1; });
}
template <typename T>
T atomicMax(T* address, simulated_gpu::NotDeduced<T> value) {
  return simulated_gpu::atomically(address, [value](T old) { return old < value ? value : old; });
}
template <typename T>
T atomicMin(T* address, simulated_gpu::NotDeduced<T> value) {
  return simulated_gpu::atomically(address, [value](T old) { return value < old ? value : old; });
}
template <typename T>
T atomicOr(T* address, simulated_gpu::NotDeduced<T> value) {
  return simulated_gpu::atomically(address, [value](T old) { return static_cast<T>(old | value); });
}
template <typename T>
T atomicAnd(T* address, simulated_gpu::NotDeduced<T> value) {
  return simulated_gpu::atomically(address, [value](T old) { return static_cast<T>(old & value); });
}
template <typename T>
T atomicExch(T* address, simulated_gpu::NotDeduced<T> value) {
  return simulated_gpu::atomically(address, [value](T) { return value; });
}
template <typename T>
T atomicCAS(T* address, simulated_gpu::NotDeduced<T> compare, simulated_gpu::NotDeduced<T> value) {
  return simulated_gpu::atomically(address, [=](T old) { return old == compare ? value : old; });
}

// Bits
inline int __popc(unsigned bits) {
  return __builtin_popcount(bits);
}
inline int __popcll(unsigned long long bits) {
  return __builtin_popcountll(bits);
}
inline int __ffs(int bits) {
  return __builtin_ffs(bits);
}
inline int __clz(int bits) {
  return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits));
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
template <typename T>
T __ldg(const T* address) {
  return *address;
}

#endif  // __cplusplus
#endif
