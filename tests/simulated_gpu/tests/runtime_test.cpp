// The runtime API where it is more than another name for the driver's.
#include <cuda.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace {

TEST(Runtime, makes_the_primary_context_current_on_first_use) {
  std::thread([] {
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    CUcontext primary = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
    EXPECT_EQ(context, primary);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }).join();
}

TEST(Runtime, keeps_a_device_for_each_thread) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  int device = -1;
  std::thread([&] { EXPECT_EQ(cudaGetDevice(&device), cudaSuccess); }).join();
  EXPECT_EQ(device, 0);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(Runtime, knows_host_memory_that_is_not_cudas) {
  int local = 0;
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &local), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST(Runtime, allocates_nothing_for_zero_bytes) {
  void* memory = &memory;
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
}

TEST(Runtime, keeps_the_last_error_but_not_that_work_is_not_ready) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidResourceHandle), "cudaErrorInvalidResourceHandle");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

TEST(Runtime, describes_its_devices) {
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_STREQ(properties.name, "Simulated GPU");
  EXPECT_GT(properties.totalGlobalMem, 0u);
  EXPECT_EQ(properties.warpSize, 32);
  char bus_id[16];
  ASSERT_EQ(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 1), cudaSuccess);
  EXPECT_STREQ(bus_id, "0000:02:00.0");
}

TEST(Runtime, copies_rows_and_stream_ordered_memory) {
  char* memory = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&memory, 64, stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(memory, 'a', 64, stream), cudaSuccess);
  const char rows[] = "xxyyzz";
  ASSERT_EQ(cudaMemcpy2DAsync(memory, 8, rows, 2, 2, 3, cudaMemcpyHostToDevice, stream), cudaSuccess);
  char result[64] = {};
  ASSERT_EQ(cudaMemcpyAsync(result, memory, 64, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(std::memcmp(result, "xxaaaaaayyaaaaaazza", 19), 0);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(Runtime, starts_afresh_after_a_reset) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  cudaGetLastError();
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

}  // namespace
