// Kernels by the runtime API, as examples write them. Compiles with nvcc too.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace {

/// Runs a kernel on the default stream and waits for it.
template <typename... Parameters, typename... Arguments>
void run(dim3 grid, dim3 block, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  ASSERT_EQ(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

/// Device memory with values, and back.
template <typename T>
class Array {
 public:
  explicit Array(const std::vector<T>& values) : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(&pointer_, count_ * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(pointer_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // for other streams
  }
  ~Array() { EXPECT_EQ(cudaFree(pointer_), cudaSuccess); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* pointer() const { return pointer_; }
  std::vector<T> values() const {
    std::vector<T> copied(count_);
    EXPECT_EQ(cudaMemcpy(copied.data(), pointer_, count_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return copied;
  }

 private:
  T* pointer_ = nullptr;
  std::size_t count_;
};

struct Matrix {
  int* values;
  int pitch;
};

__global__ void number_threads(Matrix matrix, int offset) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  matrix.values[y * static_cast<unsigned>(matrix.pitch) + x] = static_cast<int>(y * 1000 + x) + offset;
}

TEST(Kernels, see_their_place_and_memory_behind_pointers_in_structures) {
  const Array<int> matrix(std::vector<int>(12 * 6, -1));
  run(dim3(3, 2), dim3(4, 3), number_threads, Matrix{matrix.pointer(), 12}, 5);
  const auto values = matrix.values();
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 12; ++x) ASSERT_EQ(values[static_cast<std::size_t>(y * 12 + x)], y * 1000 + x + 5);
  }
}

__global__ void sum_block(const int* values, int* sums, int count) {
  __shared__ int partial[64];
  const unsigned mine = threadIdx.x;
  const int index = static_cast<int>(blockIdx.x * blockDim.x + mine);
  partial[mine] = index < count ? values[index] : 0;
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (mine < half) partial[mine] += partial[mine + half];
    __syncthreads();
  }
  if (mine == 0) sums[blockIdx.x] = partial[0];
}

TEST(Kernels, meet_at_block_barriers) {
  std::vector<int> numbers(250);
  std::iota(numbers.begin(), numbers.end(), 1);
  const Array<int> values(numbers);
  const Array<int> sums(std::vector<int>(4, 0));
  run(4, 64, sum_block, values.pointer(), sums.pointer(), 250);
  const auto results = sums.values();
  EXPECT_EQ(std::accumulate(results.begin(), results.end(), 0), 250 * 251 / 2);
  EXPECT_EQ(results[0], 64 * 65 / 2);
}

__global__ void some_return_early(int* met, int threads) {
  if (static_cast<int>(threadIdx.x) % 3 == 0) return;
  atomicAdd(met, 1);
  __syncthreads();
  if (*met == threads) atomicAdd(met + 1, 1);
}

TEST(Kernels, do_not_wait_for_threads_that_have_returned) {
  const Array<int> met(std::vector<int>(2, 0));
  run(1, 30, some_return_early, met.pointer(), 20);
  EXPECT_EQ(met.values(), (std::vector<int>{20, 20}));
}

__global__ void warp_words(int* down, int* exclusive, unsigned* odd) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  int sum = static_cast<int>(threadIdx.x);
  for (unsigned distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) down[threadIdx.x / 32] = sum;
  int scan = 1;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, scan, distance);
    if (lane >= static_cast<int>(distance)) scan += other;
  }
  exclusive[threadIdx.x] = scan - 1;
  const unsigned bits = __ballot_sync(0xffffffffu, lane % 2);
  if (threadIdx.x == 0) *odd = bits;
}

TEST(Kernels, exchange_words_in_a_warp) {
  const Array<int> down(std::vector<int>(2, 0));
  const Array<int> exclusive(std::vector<int>(64, 0));
  const Array<unsigned> odd(std::vector<unsigned>(1, 0));
  run(1, 64, warp_words, down.pointer(), exclusive.pointer(), odd.pointer());
  EXPECT_EQ(down.values(), (std::vector<int>{31 * 32 / 2, 32 * 32 + 31 * 32 / 2}));
  for (int i = 0; i < 64; ++i) ASSERT_EQ(exclusive.values()[static_cast<std::size_t>(i)], i % 32);
  EXPECT_EQ(odd.values()[0], 0xaaaaaaaau);
}

__global__ void butterfly(int* sums) {
  int sum = 1 << (threadIdx.x % 8);
  for (int mask = 4; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask, 8);
  sums[threadIdx.x] = sum + __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x), 3, 8) * 1000;
}

TEST(Kernels, exchange_words_in_parts_of_a_warp) {
  const Array<int> sums(std::vector<int>(32, 0));
  run(1, 32, butterfly, sums.pointer());
  for (int i = 0; i < 32; ++i)
    ASSERT_EQ(sums.values()[static_cast<std::size_t>(i)], 255 + (i / 8 * 8 + 3) * 1000);
}

__global__ void two_halves(int* order) {
  // a full block of fibers, each left and entered many times
  for (int round = 0; round < 20; ++round) {
    if (static_cast<int>(threadIdx.x) == round) order[round] = round;
    __syncthreads();
    if (threadIdx.x == 1023 && order[round] != round) order[20] = 1;
  }
}

TEST(Kernels, may_have_a_thousand_threads_at_a_barrier) {
  const Array<int> order(std::vector<int>(21, 0));
  run(2, 1024, two_halves, order.pointer());
  EXPECT_EQ(order.values()[20], 0);
  EXPECT_EQ(order.values()[19], 19);
}

__global__ void count_up(unsigned* counter, double* sum) {
  atomicAdd(counter, 1u);
  atomicAdd(sum, 0.5);
  atomicMax(counter + 1, threadIdx.x);
}

TEST(Kernels, of_several_streams_count_together) {
  const Array<unsigned> counter(std::vector<unsigned>(2, 0));
  const Array<double> sum(std::vector<double>(1, 0));
  cudaStream_t streams[3];
  for (cudaStream_t& stream : streams) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(10);
    config.blockDim = dim3(100);
    config.stream = stream;
    ASSERT_EQ(cudaLaunchKernelEx(&config, count_up, counter.pointer(), sum.pointer()), cudaSuccess);
  }
  for (cudaStream_t stream : streams) {
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  EXPECT_EQ(counter.values(), (std::vector<unsigned>{3000, 99}));
  EXPECT_EQ(sum.values()[0], 1500);
}

TEST(Kernels, of_too_many_threads_are_refused) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(2048);
  EXPECT_EQ(cudaLaunchKernelEx(&config, butterfly, static_cast<int*>(nullptr)),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

__global__ void read_managed(const int* managed, const int* pinned, int* sum) {
  *sum = *managed + *pinned;
}

TEST(Kernels, read_managed_and_pinned_memory) {
  int* managed = nullptr;
  int* pinned = nullptr;
  const Array<int> sum(std::vector<int>(1, 0));
  ASSERT_EQ(cudaMallocManaged(&managed, sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, sizeof(int)), cudaSuccess);
  *managed = 30;
  *pinned = 12;
  run(1, 1, read_managed, managed, pinned, sum.pointer());
  EXPECT_EQ(sum.values()[0], 42);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

struct Counts {
  unsigned lower;
  unsigned upper;
};

__global__ void take_counts(Counts counts, unsigned* taken) {
  taken[0] = counts.lower;
  taken[1] = counts.upper;
}

TEST(Kernels, get_counts_as_they_are_though_together_they_look_like_an_address) {
  const Array<unsigned> taken(std::vector<unsigned>(2, 0));
  const auto upper = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(taken.pointer()) >> 32);
  run(1, 1, take_counts, Counts{0xFFFFFFF0, upper}, taken.pointer());
  EXPECT_EQ(taken.values()[0], 0xFFFFFFF0);
  EXPECT_EQ(taken.values()[1], upper);
}

__global__ void fill_up_to(int* begin, const int* end) {
  for (; begin != end; ++begin) {
    *begin = 7;
  }
}

TEST(Kernels, get_the_end_of_memory_as_an_address) {
  const Array<int> filled(std::vector<int>(3, 0));
  run(1, 1, fill_up_to, filled.pointer(), filled.pointer() + 3);
  EXPECT_EQ(filled.values(), (std::vector<int>{7, 7, 7}));
}

}  // namespace
