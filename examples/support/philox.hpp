// Philox 4x32-10, a counter-based random number generator: four random words are a pure function of a counter
// and a key, so every rank can compute any site's numbers without a state to store or to send. Knows nothing
// of spins. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define EXAMPLE_HOST_DEVICE __host__ __device__
#else
#define EXAMPLE_HOST_DEVICE
#endif

namespace example {

struct FourWords {
  std::uint32_t word[4];
};

/// One instruction on a GPU, which nvcc does not find by itself: it would add the product of upper halves
/// that are zero, one instruction of five in a round.
EXAMPLE_HOST_DEVICE inline std::uint64_t wide_product(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  std::uint64_t product = 0;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return std::uint64_t{a} * b;
#endif
}

EXAMPLE_HOST_DEVICE inline FourWords philox(FourWords counter, std::uint64_t key) {
  auto key_low = static_cast<std::uint32_t>(key);
  auto key_high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = wide_product(0xD2511F53, counter.word[0]);
    const std::uint64_t second = wide_product(0xCD9E8D57, counter.word[2]);
    counter = {{static_cast<std::uint32_t>(second >> 32) ^ counter.word[1] ^ key_low,
                static_cast<std::uint32_t>(second),
                static_cast<std::uint32_t>(first >> 32) ^ counter.word[3] ^ key_high,
                static_cast<std::uint32_t>(first)}};
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  return counter;
}

}  // namespace example
