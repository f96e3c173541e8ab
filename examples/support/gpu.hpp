// The little that the examples need of CUDA's runtime, as handles that free themselves, and named NVTX ranges
// where NVIDIA's header is at hand.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define EXAMPLE_HAS_NVTX 1
#else
#define EXAMPLE_HAS_NVTX 0
#endif

namespace example {

/// Prints what failed, and ends the whole job. A part of each program, as kernels know no MPI.
[[noreturn]] void end_job(cudaError_t error, const char* what);

/// A CUDA error ends the whole job: an example has nothing better to do.
inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    end_job(error, what);
  }
}

enum class Priority { normal, urgent };

/// Does not synchronise with the legacy default stream: a copy there would otherwise wait for the bulk.
/// Blocks of an urgent stream's kernels go before those of others that wait for room on the GPU.
class Stream {
 public:
  explicit Stream(Priority priority) {
    int lowest = 0;
    int highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "ask for stream priorities");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                       priority == Priority::urgent ? highest : lowest),
          "create a stream");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void synchronize() const { check(cudaStreamSynchronize(stream_), "synchronise a stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "create an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get()), "record an event"); }
  /// Work queued on `stream` from now on starts after what was recorded; never recorded counts as done.
  void block(const Stream& stream) const {
    check(cudaStreamWaitEvent(stream.get(), event_, 0), "wait for an event");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// The time that a stream takes for what is queued between two points.
class Stopwatch {
 public:
  Stopwatch() {
    check(cudaEventCreate(&start_), "create an event");
    check(cudaEventCreate(&end_), "create an event");
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start(const Stream& stream) const { check(cudaEventRecord(start_, stream.get()), "record an event"); }
  void stop(const Stream& stream) const { check(cudaEventRecord(end_, stream.get()), "record an event"); }
  /// Once the stream has come to the end.
  [[nodiscard]] double time_s() const {
    float time_ms = 0;
    check(cudaEventElapsedTime(&time_ms, start_, end_), "ask for a time between events");
    return time_ms / 1e3;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// Uninitialised device memory.
template <typename Element>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(Element)), "allocate device memory");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  [[nodiscard]] Element* get() const { return data_; }

 private:
  Element* data_ = nullptr;
};

/// Uninitialised page-locked host memory, which copies to and from a GPU go through fastest.
template <typename Element>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t count) : count_(count) {
    check(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(Element)),
          "allocate pinned memory");
  }
  ~PinnedArray() { cudaFreeHost(data_); }
  PinnedArray(PinnedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  [[nodiscard]] Element* get() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  Element* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Queues `kernel` with one thread for each of `count` items.
template <typename... Parameters, typename... Arguments>
void launch(const Stream& stream, std::int64_t count, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  constexpr unsigned block_threads = 256;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((count + block_threads - 1) / block_threads));
  config.blockDim = dim3(block_threads);
  config.stream = stream.get();
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), "launch a kernel");
}

/// Names a range of the host's time in profiles, until the end of the scope.
class NamedRange {
 public:
  explicit NamedRange([[maybe_unused]] const char* name) {
#if EXAMPLE_HAS_NVTX
    nvtxRangePushA(name);
#endif
  }
  ~NamedRange() {
#if EXAMPLE_HAS_NVTX
    nvtxRangePop();
#endif
  }
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;
};

}  // namespace example
