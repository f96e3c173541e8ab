// RAII handles of CUDA. Errors of freeing are ignored.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "examples/gmh/library/checks.hpp"

namespace gmh {

/// A pool of CUDA events of one GPU. Thread: its own.
class GpuEvents {
 public:
  GpuEvents() = default;
  ~GpuEvents() {
    for (cudaEvent_t event : free_) cudaEventDestroy(event);
  }
  GpuEvents(const GpuEvents&) = delete;
  GpuEvents& operator=(const GpuEvents&) = delete;

  [[nodiscard]] cudaEvent_t take() {
    if (free_.empty()) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "create a CUDA event");
      return event;
    }
    cudaEvent_t event = free_.back();
    free_.pop_back();
    return event;
  }
  void give(cudaEvent_t event) { free_.push_back(event); }

 private:
  std::vector<cudaEvent_t> free_;
};

/// A point in a stream's work. Owns: its CUDA event, which returns to the pool.
class GpuPoint {
 public:
  explicit GpuPoint(GpuEvents& events) : events_(events) {}
  ~GpuPoint() {
    if (event_ != nullptr) events_.give(event_);
  }
  GpuPoint(const GpuPoint&) = delete;
  GpuPoint& operator=(const GpuPoint&) = delete;

  void record(cudaStream_t stream) {
    if (event_ == nullptr) event_ = events_.take();
    check(cudaEventRecord(event_, stream), "record an event");
    is_recorded_ = true;
  }
  void forget() noexcept { is_recorded_ = false; }
  [[nodiscard]] bool is_recorded() const noexcept { return is_recorded_; }
  [[nodiscard]] bool is_reached() const { return is_done(cudaEventQuery(event_), "wait for the GPU"); }
  /// Makes later work on `stream` wait for this point.
  void block(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_, 0), "wait for an event");
  }

 private:
  GpuEvents& events_;
  cudaEvent_t event_ = nullptr;
  bool is_recorded_ = false;
};

/// Memory of the current GPU.
struct OnGpu {
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    check(cudaMalloc(&data, bytes), "allocate GPU memory");
    return data;
  }
  static void free(void* data) noexcept { cudaFree(data); }
};

/// Page-locked host memory, portable among the process's GPUs.
struct Pinned {
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    check(cudaHostAlloc(&data, bytes, cudaHostAllocPortable), "allocate pinned host memory");
    return data;
  }
  static void free(void* data) noexcept { cudaFreeHost(data); }
};

/// Owns: uninitialised memory of a kind.
template <typename Kind>
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::size_t bytes) : data_(bytes != 0 ? Kind::allocate(bytes) : nullptr), bytes_(bytes) {}
  ~Bytes() { Kind::free(data_); }
  Bytes(Bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Bytes& operator=(Bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  [[nodiscard]] char* get() const noexcept { return static_cast<char*>(data_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Gives up ownership without freeing, since MPI may still use the memory.
  void leak() noexcept { data_ = nullptr; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};
using GpuBytes = Bytes<OnGpu>;
using PinnedBytes = Bytes<Pinned>;

/// Selects a stream whose work waits for what was queued on the legacy default stream before.
struct BehindLegacyStream {};

class Stream {
 public:
  /// Creates a stream that does not synchronise with the legacy default stream.
  explicit Stream(bool urgent) {
    int lowest = 0;
    int highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "ask for stream priorities");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? highest : lowest),
          "create a stream");
  }
  explicit Stream(BehindLegacyStream /*selected*/) { check(cudaStreamCreate(&stream_), "create a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// Returns whether all queued work has completed.
  [[nodiscard]] bool is_idle() const { return is_done(cudaStreamQuery(stream_), "wait for a stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace gmh
