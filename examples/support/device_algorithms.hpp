// What the examples take from CUB: a sum, a sort and a removal of doubles, on a stream. On the simulated GPU
// they are kernels of one thread that call the standard library. For .cu files only, which alone can include
// CUB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "examples/support/gpu.hpp"

#if defined(__CUDACC__)
#include <cub/cub.cuh>
#else
#include <numeric>
#endif

namespace example {

/// Temporary device memory, kept for the next call. Work on one stream at a time may use it.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch() { cudaFree(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] void* reserve(std::size_t bytes) {
    if (bytes > bytes_) {
      check(cudaFree(data_), "free temporary device memory");  // waits for what may still use it
      check(cudaMalloc(&data_, bytes), "allocate temporary device memory");
      bytes_ = bytes;
    }
    return data_;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

#if defined(__CUDACC__)

/// Calls one of CUB's algorithms twice, as they are meant to be: for the temporary memory that it needs, and
/// to queue its work.
template <typename Algorithm>
void with_scratch(Scratch& scratch, Algorithm&& algorithm) {
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes), "ask CUB for the size of its temporary memory");
  void* const memory = scratch.reserve(std::max(bytes, std::size_t{1}));
  check(algorithm(memory, bytes), "queue an algorithm of CUB");
}

#else

// Not in an unnamed namespace: profilers show these names.
namespace kernels {

template <typename Value>
void exclusive_sum(const Value* values, Value* sums, std::int64_t count) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    std::exclusive_scan(values, values + count, sums, Value{0});
  }
}

template <typename Key>
void sort(Key* keys, std::int64_t count) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    std::sort(keys, keys + count);
  }
}

template <typename Key>
void unique(const Key* sorted, Key* kept, unsigned long long* kept_count, std::int64_t count) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *kept_count = static_cast<unsigned long long>(std::unique_copy(sorted, sorted + count, kept) - kept);
  }
}

}  // namespace kernels

#endif

/// sums[i] = values[0] + … + values[i − 1]. May be done in place.
template <typename Value>
void exclusive_sum(const Stream& stream, [[maybe_unused]] Scratch& scratch, const Value* values, Value* sums,
                   std::int64_t count) {
#if defined(__CUDACC__)
  with_scratch(scratch, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, values, sums, count, stream.get());
  });
#else
  launch(stream, 1, kernels::exclusive_sum<Value>, values, sums, count);
#endif
}

/// Sorts by the lowest `bits` bits, beyond which there must be none. Returns where the sorted keys are: in
/// `keys` or in `spare`, which is as large.
template <typename Key>
[[nodiscard]] Key* sort(const Stream& stream, [[maybe_unused]] Scratch& scratch, Key* keys,
                        [[maybe_unused]] Key* spare, std::int64_t count, [[maybe_unused]] int bits) {
#if defined(__CUDACC__)
  cub::DoubleBuffer<Key> buffers(keys, spare);
  with_scratch(scratch, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(memory, bytes, buffers, count, 0, bits, stream.get());
  });
  return buffers.Current();
#else
  launch(stream, 1, kernels::sort<Key>, keys, count);
  return keys;
#endif
}

/// Copies one of each run of equal keys, and says in device memory how many that are.
template <typename Key>
void unique(const Stream& stream, [[maybe_unused]] Scratch& scratch, const Key* sorted, Key* kept,
            unsigned long long* kept_count, std::int64_t count) {
#if defined(__CUDACC__)
  with_scratch(scratch, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(memory, bytes, sorted, kept, kept_count, count, stream.get());
  });
#else
  launch(stream, 1, kernels::unique<Key>, sorted, kept, kept_count, count);
#endif
}

}  // namespace example
