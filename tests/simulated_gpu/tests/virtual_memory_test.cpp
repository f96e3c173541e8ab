#include "support.hpp"

using namespace simulated_gpu::test;

namespace {

constexpr std::size_t granule = std::size_t{2} << 20;

CUmemAllocationProp on_device_0() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  return properties;
}

/// One range of addresses, two pieces of memory side by side in it.
class TwoChunks : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    const CUmemAllocationProp properties = on_device_0();
    ASSERT_EQ(cuMemAddressReserve(&range_, 3 * granule, 0, 0, 0), CUDA_SUCCESS);
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(cuMemCreate(&chunks_[i], granule, &properties, 0), CUDA_SUCCESS);
      ASSERT_EQ(cuMemMap(range_ + static_cast<std::size_t>(i) * granule, granule, 0, chunks_[i], 0),
                CUDA_SUCCESS);
    }
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASSERT_EQ(cuMemSetAccess(range_, 2 * granule, &access, 1), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuMemUnmap(range_, 2 * granule), CUDA_SUCCESS);
    for (const auto chunk : chunks_) EXPECT_EQ(cuMemRelease(chunk), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(range_, 3 * granule), CUDA_SUCCESS);
    WithContext::TearDown();
  }

  CUdeviceptr range_ = 0;
  CUmemGenericAllocationHandle chunks_[2] = {};
};

TEST_F(TwoChunks, are_one_piece_to_copies) {
  ASSERT_EQ(cuMemsetD8(range_, 3, 2 * granule), CUDA_SUCCESS);
  EXPECT_EQ(download(range_ + granule - 10, 20), std::vector<unsigned char>(20, 3));
}

TEST_F(TwoChunks, end_where_nothing_is_mapped) {
  char byte = 0;
  EXPECT_EQ(cuMemcpyDtoH(&byte, range_ + 2 * granule, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(TwoChunks, are_one_range_but_two_buffers) {
  unsigned long long ids[2] = {};
  std::size_t range_bytes = 0;
  std::size_t mapping_bytes = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(cuPointerGetAttribute(&ids[i], CU_POINTER_ATTRIBUTE_BUFFER_ID, range_ + i * granule),
              CUDA_SUCCESS);
  }
  EXPECT_NE(ids[0], ids[1]);
  ASSERT_EQ(cuPointerGetAttribute(&range_bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, range_ + granule),
            CUDA_SUCCESS);
  ASSERT_EQ(cuPointerGetAttribute(&mapping_bytes, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, range_), CUDA_SUCCESS);
  EXPECT_EQ(range_bytes, 3 * granule);
  EXPECT_EQ(mapping_bytes, granule);
}

TEST_F(TwoChunks, have_no_ipc_handle_and_no_context) {
  CUipcMemHandle handle{};
  EXPECT_EQ(cuIpcGetMemHandle(&handle, range_), CUDA_ERROR_INVALID_VALUE);
  CUcontext context = context_;
  ASSERT_EQ(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, range_), CUDA_SUCCESS);
  EXPECT_EQ(context, nullptr);
}

TEST_F(TwoChunks, can_be_mapped_again_through_an_exported_descriptor) {
  int descriptor = -1;
  ASSERT_EQ(
      cuMemExportToShareableHandle(&descriptor, chunks_[1], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      CUDA_SUCCESS);
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_EQ(cuMemImportFromShareableHandle(&imported,
                                           reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_SUCCESS);
  close(descriptor);
  CUdeviceptr other = 0;
  ASSERT_EQ(cuMemAddressReserve(&other, granule, 0, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(other, granule, 0, imported, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemRelease(imported), CUDA_SUCCESS);  // the mapping keeps the memory
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASSERT_EQ(cuMemSetAccess(other, granule, &access, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(range_ + granule, 77, granule), CUDA_SUCCESS);
  EXPECT_EQ(download(other + 5, 1)[0], 77);
  EXPECT_EQ(cuMemUnmap(other, granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(other, granule), CUDA_SUCCESS);
}

TEST_F(TwoChunks, give_their_handle_back_by_address) {
  CUmemGenericAllocationHandle retained = 0;
  ASSERT_EQ(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(range_ + granule)), CUDA_SUCCESS);
  EXPECT_EQ(retained, chunks_[1]);
  EXPECT_EQ(cuMemRelease(retained), CUDA_SUCCESS);
}

TEST_F(TwoChunks, die_when_the_host_touches_them) {
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(range_) = 1, "");
}

}  // namespace
