// Kernels by name, as a program loads them with the driver API.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

struct Shift {
  int* values;
  int by;
};

__global__ void shift_values(char factor, Shift shift) {
  shift.values[blockIdx.x * blockDim.x + threadIdx.x] += factor * shift.by;
}
__global__ void do_nothing() {}

namespace {

class LibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(load(&image_), CUDA_SUCCESS);
  }
  void TearDown() override { static_cast<void>(cuLibraryUnload(library_)); }
  CUresult load(const void* image) {
    return cuLibraryLoadData(&library_, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
  CUfunction find(const char* name) {
    CUkernel kernel = nullptr;
    EXPECT_EQ(cuLibraryGetKernel(&kernel, library_, name), CUDA_SUCCESS);
    return reinterpret_cast<CUfunction>(kernel);
  }
  static CUresult launch(CUfunction function, void** parameters) {
    return cuLaunchKernel(function, 2, 1, 1, 8, 1, 1, 0, nullptr, parameters, nullptr);
  }

  const SimulatedGpuKernel rows_[2] = {simulated_gpu::kernel_row("shift", shift_values),
                                       simulated_gpu::kernel_row("nothing", do_nothing)};
  const SimulatedGpuImage image_{SIMULATED_GPU_IMAGE_MAGIC, 2, rows_};
  CUlibrary library_ = nullptr;
};

TEST_F(LibraryTest, launches_a_kernel_with_its_parameters) {
  int* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 16 * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 0, 16 * sizeof(int)), cudaSuccess);
  char factor = 3;
  Shift shift{memory, 7};
  void* parameters[] = {&factor, &shift};
  ASSERT_EQ(launch(find("shift"), parameters), CUDA_SUCCESS);
  std::vector<int> found(16);
  ASSERT_EQ(cudaMemcpy(found.data(), memory, 16 * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(found, std::vector<int>(16, 21));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(LibraryTest, launches_a_kernel_without_parameters) {
  EXPECT_EQ(launch(find("nothing"), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(LibraryTest, refuses_what_it_does_not_know) {
  CUkernel kernel = nullptr;
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library_, "missing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(launch(find("shift"), nullptr), CUDA_ERROR_INVALID_VALUE);
  const std::vector<char> no_image(64, 'x');
  EXPECT_EQ(load(no_image.data()), CUDA_ERROR_INVALID_IMAGE);
}

/// As NVIDIA's driver does.
TEST_F(LibraryTest, a_first_launch_waits_for_what_runs_and_later_ones_do_not) {
  cudaStream_t busy = nullptr;
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  std::atomic<bool> may_end = false;
  const auto keep_busy = [&] {
    return cudaLaunchHostFunc(
        busy,
        [](void* end) {
          while (!static_cast<std::atomic<bool>*>(end)->load()) std::this_thread::yield();
        },
        &may_end);
  };
  const auto launch_nothing = [&] {
    return cuLaunchKernel(find("nothing"), 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr);
  };
  ASSERT_EQ(keep_busy(), cudaSuccess);
  std::atomic<bool> is_launched = false;
  std::thread first([&] {
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(launch_nothing(), CUDA_SUCCESS);
    is_launched = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(is_launched);
  may_end = true;
  first.join();
  may_end = false;
  ASSERT_EQ(keep_busy(), cudaSuccess);
  EXPECT_EQ(launch_nothing(), CUDA_SUCCESS);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  may_end = true;
  EXPECT_EQ(cudaStreamSynchronize(busy), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(busy), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

TEST_F(LibraryTest, kernels_go_with_their_library) {
  const CUfunction function = find("nothing");
  ASSERT_EQ(cuLibraryUnload(library_), CUDA_SUCCESS);
  EXPECT_EQ(launch(function, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLibraryUnload(library_), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
