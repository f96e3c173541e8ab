#include "support.hpp"

using namespace simulated_gpu::test;

namespace {

using PointerAttributes = WithContext;

template <typename Value>
Value attribute(CUpointer_attribute which, CUdeviceptr address) {
  Value value{};
  EXPECT_EQ(cuPointerGetAttribute(&value, which, address), CUDA_SUCCESS) << which;
  return value;
}

TEST_F(PointerAttributes, of_device_memory) {
  const CUdeviceptr address = allocate(1000);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 10),
            unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, address), context_);
  EXPECT_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address), 0);
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address + 10), address + 10);
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 10), address);
  EXPECT_EQ(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 10), 1000u);
  EXPECT_FALSE(attribute<bool>(CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  EXPECT_TRUE(attribute<bool>(CU_POINTER_ATTRIBUTE_MAPPED, address));
  EXPECT_TRUE(attribute<bool>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address));
  EXPECT_EQ(attribute<CUmemoryPool>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address), nullptr);
  void* host = nullptr;
  EXPECT_EQ(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PointerAttributes, of_pinned_memory) {
  void* memory = nullptr;
  ASSERT_EQ(cuMemAllocHost(&memory, 1000), CUDA_SUCCESS);
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), unsigned{CU_MEMORYTYPE_HOST});
  EXPECT_EQ(attribute<void*>(CU_POINTER_ATTRIBUTE_HOST_POINTER, address), memory);
  EXPECT_FALSE(attribute<bool>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address));
  EXPECT_EQ(cuMemFreeHost(memory), CUDA_SUCCESS);
}

TEST_F(PointerAttributes, of_managed_memory) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAllocManaged(&address, 1000, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  EXPECT_TRUE(attribute<bool>(CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
}

TEST_F(PointerAttributes, of_pool_memory) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAllocAsync(&address, 1000, nullptr), CUDA_SUCCESS);
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(attribute<CUmemoryPool>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address), pool);
  EXPECT_FALSE(attribute<bool>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address));
  EXPECT_EQ(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, address), nullptr);
  CUipcMemHandle handle{};
  EXPECT_EQ(cuIpcGetMemHandle(&handle, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
}

TEST_F(PointerAttributes, of_unknown_host_memory_are_an_error_one_by_one_and_nothing_together) {
  int local = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(&local);
  unsigned type = 99;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
            CUDA_ERROR_INVALID_VALUE);
  int device = 99;
  CUcontext context = context_;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_CONTEXT};
  void* values[] = {&type, &device, &context};
  ASSERT_EQ(cuPointerGetAttributes(3, which, values, address), CUDA_SUCCESS);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(device, CU_DEVICE_INVALID);
  EXPECT_EQ(context, nullptr);
}

}  // namespace
