// How threads load what they copy. Only device code includes this file.
#pragma once

#include <cstdint>

namespace penstock::transports::kernels {
namespace {

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

/// Threads that copy together.
struct ThreadGroup {
  std::uint32_t thread;
  std::uint32_t threads;
};
__device__ ThreadGroup all_of_block() {
  return {threadIdx.x, blockDim.x};
}

__device__ ThreadGroup all_of_launch() {
  return {blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x};
}

enum class Loads : std::uint8_t {
  cached,
  fresh  ///< for a kernel that outlives what it has read: not from the L1 cache, and in program order
};

#ifdef __CUDACC__
/// Not __ldcv: in a loop an H200 serves it from its L1 cache, for ever.
__device__ Word16 load_fresh(const void* from) {
  Word16 word;
  asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
               : "=l"(word.low), "=l"(word.high)
               : "l"(from)
               : "memory");
  return word;
}
#endif

template <Loads loads, class Word>
__device__ Word load(const Word* from) {
#ifdef __CUDACC__
  if constexpr (loads == Loads::fresh && sizeof(Word) == 16) {
    return load_fresh(from);
  } else if constexpr (loads == Loads::fresh) {
    return *static_cast<const volatile Word*>(from);
  }
#endif
  return *from;
}

}  // namespace
}  // namespace penstock::transports::kernels
