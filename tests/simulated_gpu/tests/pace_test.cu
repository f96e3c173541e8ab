// Work that lasts as long as it was told to, and no less. Settings are read once, so this is a program of its
// own.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <vector>

namespace pace_test {

__global__ void nothing(int) {}

}  // namespace pace_test

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

const bool is_set = setenv("SIMULATED_GPU_THREAD_NS", "10000", 1) == 0 &&
                    setenv("SIMULATED_GPU_COPY_MB_PER_S", "100", 1) == 0;

/// Of what `queue` queues on the legacy stream, until it is done.
template <typename Queue>
Clock::duration time_of(Queue queue) {
  const Clock::time_point begin = Clock::now();
  queue();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return Clock::now() - begin;
}

void launch(unsigned blocks, unsigned threads) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  ASSERT_EQ(cudaLaunchKernelEx(&config, pace_test::nothing, 1), cudaSuccess);
}

TEST(Pace, a_kernel_lasts_by_its_threads) {
  ASSERT_TRUE(is_set);
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_GE(time_of([] { launch(20, 100); }), milliseconds(20));
  EXPECT_GE(time_of([] {
              launch(10, 100);
              launch(10, 100);
            }),
            milliseconds(20))
      << "one behind the other";
}

TEST(Pace, a_copy_lasts_by_its_bytes) {
  constexpr std::size_t bytes = 2'000'000;
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 2 * bytes), cudaSuccess);
  EXPECT_GE(time_of([=] {
              ASSERT_EQ(cudaMemcpyAsync(static_cast<char*>(memory) + bytes, memory, bytes, cudaMemcpyDefault,
                                        nullptr),
                        cudaSuccess);
            }),
            milliseconds(20));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(Pace, a_copy_of_little_pageable_memory_goes_on_after_the_call) {
  std::vector<unsigned char> values(50'000, 7);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, values.size()), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(memory, values.data(), values.size(), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  values.assign(values.size(), 8);
  ASSERT_EQ(cudaMemcpy(values.data(), memory, values.size(), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(values, std::vector<unsigned char>(50'000, 7));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

}  // namespace
