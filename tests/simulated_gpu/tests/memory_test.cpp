#include "support.hpp"

using namespace simulated_gpu::test;

namespace {

using Memory = WithContext;

constexpr std::size_t mib = std::size_t{1} << 20;

TEST_F(Memory, a_host_thread_that_touches_device_memory_dies) {
  const CUdeviceptr address = allocate(4096);
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(address) = 1, "");
  EXPECT_DEATH(static_cast<void>(*reinterpret_cast<volatile char*>(address + 100)), "");
}

TEST_F(Memory, small_allocations_share_a_block_and_do_not_overlap) {
  const CUdeviceptr first = allocate(100);
  const CUdeviceptr second = allocate(100);
  EXPECT_EQ(first / (2 * mib), second / (2 * mib));
  EXPECT_GE(second, first + 100);
  ASSERT_EQ(cuMemsetD8(first, 1, 100), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(second, 2, 100), CUDA_SUCCESS);
  EXPECT_EQ(download(first, 100), std::vector<unsigned char>(100, 1));
}

TEST_F(Memory, an_address_range_is_the_allocation_not_its_block) {
  const CUdeviceptr address = allocate(1000);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(cuMemGetAddressRange(&base, &bytes, address + 999), CUDA_SUCCESS);
  EXPECT_EQ(base, address);
  EXPECT_EQ(bytes, 1000u);
}

TEST_F(Memory, a_freed_address_is_refused_everywhere) {
  const CUdeviceptr address = allocate(3 * mib);
  ASSERT_EQ(cuMemFree(address), CUDA_SUCCESS);
  char byte = 0;
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(&byte, address, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(address, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetAddressRange(nullptr, nullptr, address), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Memory, a_copy_past_the_end_of_an_allocation_is_refused) {
  const CUdeviceptr address = allocate(1000);
  char bytes[2000] = {};
  EXPECT_EQ(cuMemcpyDtoH(bytes, address + 500, 501), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, only_the_start_of_an_allocation_can_be_freed) {
  const CUdeviceptr address = allocate(1000);
  EXPECT_EQ(cuMemFree(address + 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
}

TEST_F(Memory, an_address_that_is_used_again_has_a_new_buffer_id) {
  const CUdeviceptr first = allocate(4 * mib);
  unsigned long long first_id = 0;
  unsigned long long second_id = 0;
  ASSERT_EQ(cuPointerGetAttribute(&first_id, CU_POINTER_ATTRIBUTE_BUFFER_ID, first), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(first), CUDA_SUCCESS);
  const CUdeviceptr second = allocate(4 * mib);
  ASSERT_EQ(second, first);
  ASSERT_EQ(cuPointerGetAttribute(&second_id, CU_POINTER_ATTRIBUTE_BUFFER_ID, second), CUDA_SUCCESS);
  EXPECT_NE(first_id, second_id);
}

TEST_F(Memory, managed_memory_is_for_host_and_device) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(address, 5, 4096), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<unsigned char*>(address + 4095), 5);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
}

TEST_F(Memory, host_memory_registers_once_and_only_its_start_unregisters) {
  std::vector<char> memory(8192);
  ASSERT_EQ(cuMemHostRegister(memory.data(), memory.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(memory.data() + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostUnregister(memory.data() + 100), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer(&address, memory.data() + 5, 0), CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<CUdeviceptr>(memory.data() + 5));
  EXPECT_EQ(cuMemHostUnregister(memory.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(memory.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(Memory, freed_pool_memory_is_gone_at_once_for_the_host_but_not_for_work_before_it) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAllocAsync(&address, 1000, stream), CUDA_SUCCESS);
  void* result = nullptr;
  ASSERT_EQ(cuMemAllocHost(&result, 1000), CUDA_SUCCESS);
  Gate gate;
  gate.close(stream);
  ASSERT_EQ(cuMemsetD8Async(address, 9, 1000, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync(result, address, 1000, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(address, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(address, 1, 1, stream), CUDA_ERROR_INVALID_VALUE);
  gate.open();
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<unsigned char*>(result)[999], 9);
  EXPECT_EQ(cuMemFreeHost(result), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(Memory, free_memory_shrinks_and_grows_and_can_run_out) {
  std::size_t before = 0;
  std::size_t during = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  const CUdeviceptr address = allocate(64 * mib);
  ASSERT_EQ(cuMemGetInfo(&during, &total), CUDA_SUCCESS);
  EXPECT_EQ(before - during, 64 * mib);
  CUdeviceptr too_much = 0;
  EXPECT_EQ(cuMemAlloc(&too_much, during + mib), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cuMemFree(address), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo(&during, &total), CUDA_SUCCESS);
  EXPECT_EQ(before, during);
}

TEST_F(Memory, a_destroyed_context_takes_its_allocations_along) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate(&other, nullptr, 0, 1), CUDA_SUCCESS);
  const CUdeviceptr address = allocate(1000);
  ASSERT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  CUcontext current = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context_);
}

}  // namespace
