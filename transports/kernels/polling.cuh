// How kernels wait: stamped words that show their own arrival, and the time. Only device code includes this
// file.
#pragma once

#ifndef __CUDACC__
#include <sched.h>

#include <chrono>
#endif
#include <cstdint>

#include "transports/kernels/loads.cuh"

namespace penstock::transports::kernels {
namespace {

/// Writes two words for the host or another GPU, each valid by itself.
__device__ void write_stamped(std::uint64_t* words, std::uint64_t first, std::uint64_t second) {
#ifdef __CUDACC__
  asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" : : "l"(words), "l"(first), "l"(second) : "memory");
#else
  __atomic_store_n(words, first, __ATOMIC_RELAXED);
  __atomic_store_n(words + 1, second, __ATOMIC_RELAXED);
#endif
}

struct StampedPair {
  std::uint64_t first, second;
};
__device__ StampedPair read_stamped(const std::uint64_t* words) {
#ifdef __CUDACC__
  const Word16 both = load_fresh(words);
  return {both.low, both.high};
#else
  return {__atomic_load_n(words, __ATOMIC_RELAXED), __atomic_load_n(words + 1, __ATOMIC_RELAXED)};
#endif
}

/// Reads a word that other blocks change meanwhile.
__device__ std::uint32_t read_changing(const std::uint32_t& word) {
#ifdef __CUDACC__
  return *static_cast<const volatile std::uint32_t*>(&word);
#else
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
#endif
}

/// Yields in loops that wait. A GPU's threads all run.
__device__ void let_others_run() {
#ifndef __CUDACC__
  sched_yield();
#endif
}

__device__ std::uint64_t clock_ns() {
#ifdef __CUDACC__
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  let_others_run();  // loops that wait for other threads call this
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace
}  // namespace penstock::transports::kernels
