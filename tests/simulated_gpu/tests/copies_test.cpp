#include "support.hpp"

using namespace simulated_gpu::test;

namespace {

using Copies = WithContext;

TEST_F(Copies, go_round_from_host_to_device_to_device_to_host) {
  const auto values = pattern(100'000);
  const CUdeviceptr first = upload(values);
  const CUdeviceptr second = allocate(values.size());
  ASSERT_EQ(cuMemcpyDtoD(second, first, values.size()), CUDA_SUCCESS);
  EXPECT_EQ(download(second, values.size()), values);
}

TEST_F(Copies, infer_their_direction_from_the_addresses) {
  const auto values = pattern(1000);
  const CUdeviceptr address = allocate(values.size());
  std::vector<unsigned char> back(values.size());
  ASSERT_EQ(cuMemcpy(address, reinterpret_cast<CUdeviceptr>(values.data()), values.size()), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpy(reinterpret_cast<CUdeviceptr>(back.data()), address, values.size()), CUDA_SUCCESS);
  EXPECT_EQ(back, values);
}

TEST_F(Copies, of_nothing_succeed_whatever_the_pointers) {
  EXPECT_EQ(cuMemcpyDtoH(nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(0, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Copies, between_devices_need_no_peer_access) {
  const auto values = pattern(5000);
  const CUdeviceptr here = upload(values);
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate(&other, nullptr, 0, 1), CUDA_SUCCESS);
  const CUdeviceptr there = allocate(values.size());
  ASSERT_EQ(cuMemcpyPeer(there, other, here, context_, values.size()), CUDA_SUCCESS);
  EXPECT_EQ(download(there, values.size()), values);
  ASSERT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
}

TEST_F(Copies, in_two_dimensions_take_every_row_from_its_place) {
  const auto values = pattern(64 * 10);
  const CUdeviceptr matrix = upload(values);
  std::vector<unsigned char> face(8 * 10);
  CUDA_MEMCPY2D what{};
  what.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  what.srcDevice = matrix;
  what.srcPitch = 64;
  what.srcXInBytes = 16;
  what.srcY = 2;
  what.dstMemoryType = CU_MEMORYTYPE_HOST;
  what.dstHost = face.data();
  what.dstPitch = 8;
  what.WidthInBytes = 8;
  what.Height = 8;
  ASSERT_EQ(cuMemcpy2D(&what), CUDA_SUCCESS);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t i = 0; i < 8; ++i) ASSERT_EQ(face[row * 8 + i], values[(row + 2) * 64 + 16 + i]);
  }
  what.Height = 9;  // one row too many
  EXPECT_EQ(cuMemcpy2D(&what), CUDA_ERROR_INVALID_VALUE);
  what.Height = 1;
  what.srcPitch = 20;  // shorter than a row's end
  EXPECT_EQ(cuMemcpy2D(&what), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Copies, in_three_dimensions_take_every_plane_from_its_place) {
  const auto values = pattern(4 * 4 * 4);
  const CUdeviceptr cube = upload(values);
  std::vector<unsigned char> corner(2 * 2 * 2);
  CUDA_MEMCPY3D what{};
  what.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  what.srcDevice = cube;
  what.srcPitch = 4;
  what.srcHeight = 4;
  what.srcXInBytes = what.srcY = what.srcZ = 1;
  what.dstMemoryType = CU_MEMORYTYPE_HOST;
  what.dstHost = corner.data();
  what.WidthInBytes = what.Height = what.Depth = 2;
  ASSERT_EQ(cuMemcpy3D(&what), CUDA_SUCCESS);
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_EQ(corner[i], values[(1 + i / 4) * 16 + (1 + i / 2 % 2) * 4 + 1 + i % 2]);
  }
}

TEST_F(Copies, in_a_batch_all_arrive_but_not_on_the_legacy_stream) {
  const auto values = pattern(3000);
  CUdeviceptr sources[3];
  CUdeviceptr destinations[3];
  std::size_t sizes[3] = {1000, 1000, 1000};
  const CUdeviceptr from = upload(values);
  const CUdeviceptr to = allocate(values.size());
  for (std::size_t i = 0; i < 3; ++i) {
    sources[i] = from + i * 1000;
    destinations[i] = to + (2 - i) * 1000;
  }
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  EXPECT_EQ(cuMemcpyBatchAsync(destinations, sources, sizes, 3, &attributes, &first, 1, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyBatchAsync(destinations, sources, sizes, 3, &attributes, &first, 1, stream),
            CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(download(to, 1000), std::vector<unsigned char>(values.begin() + 2000, values.end()));
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(Copies, fill_with_wide_values) {
  const CUdeviceptr address = allocate(64);
  ASSERT_EQ(cuMemsetD32(address, 0x04030201, 16), CUDA_SUCCESS);
  EXPECT_EQ(download(address + 60, 4), (std::vector<unsigned char>{1, 2, 3, 4}));
  EXPECT_EQ(cuMemsetD32(address + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Copies, from_pinned_memory_let_the_host_go_on_and_from_pageable_memory_do_not) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 1000), CUDA_SUCCESS);
  const CUdeviceptr address = allocate(1000);
  Gate gate;
  gate.close(stream);
  ASSERT_EQ(cuMemcpyHtoDAsync(address, pinned, 1000, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  std::thread opener([&] { gate.open(); });
  unsigned char pageable[1000];
  ASSERT_EQ(cuMemcpyDtoHAsync(pageable, address, 1000, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
  opener.join();
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

}  // namespace
