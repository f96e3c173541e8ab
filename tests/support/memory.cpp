#include "tests/support/memory.hpp"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/support/virtual_memory.hpp"

namespace penstock::test_support {

namespace {

void require(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(result));
  std::abort();
}

/// Even no bytes get an address of their own.
std::size_t allocated_bytes(std::size_t bytes) {
  return bytes == 0 ? 1 : bytes;
}

std::byte* allocate(MemoryKind kind, std::size_t bytes, int device) {
  void* data = nullptr;
  switch (kind) {
    case MemoryKind::pageable:
      data = std::malloc(bytes);
      if (data == nullptr) std::abort();
      break;
    case MemoryKind::pinned:
      require(cudaMallocHost(&data, bytes), "cudaMallocHost");
      break;
    case MemoryKind::device:
      require(cudaMalloc(&data, bytes), "cudaMalloc");
      break;
    case MemoryKind::async_pool:
      require(cudaMallocAsync(&data, bytes, nullptr), "cudaMallocAsync");
      require(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
      break;
    case MemoryKind::managed:
      require(cudaMallocManaged(&data, bytes, cudaMemAttachGlobal), "cudaMallocManaged");
      break;
    case MemoryKind::virtual_memory:
      require(cudaFree(nullptr), "cudaFree");  // makes the context that the driver API needs
      data = map_virtual_memory(bytes, device);
      break;
  }
  return static_cast<std::byte*>(data);
}

void release(MemoryKind kind, std::byte* data, std::size_t bytes, int device) {
  switch (kind) {
    case MemoryKind::pageable:
      std::free(data);
      break;
    case MemoryKind::pinned:
      require(cudaFreeHost(data), "cudaFreeHost");
      break;
    case MemoryKind::async_pool:
      require(cudaFreeAsync(data, nullptr), "cudaFreeAsync");
      require(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
      break;
    case MemoryKind::device:
    case MemoryKind::managed:
      require(cudaFree(data), "cudaFree");
      break;
    case MemoryKind::virtual_memory:
      require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // unmapping waits for nothing
      unmap_virtual_memory(data, bytes, device);
      break;
  }
}

}  // namespace

const char* name_of(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::pageable:
      return "pageable";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::device:
      return "device";
    case MemoryKind::async_pool:
      return "async_pool";
    case MemoryKind::managed:
      return "managed";
    case MemoryKind::virtual_memory:
      return "virtual_memory";
  }
  return "?";
}

int gpu_count() noexcept {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

Memory::Memory(MemoryKind kind, std::size_t bytes, int device) : bytes_(bytes), kind_(kind), device_(device) {
  if (kind != MemoryKind::pageable) require(cudaSetDevice(device), "cudaSetDevice");
  data_ = allocate(kind, allocated_bytes(bytes), device);
}

Memory Memory::borrowed(void* data, MemoryKind kind, std::size_t bytes, int device) noexcept {
  Memory memory;
  memory.data_ = static_cast<std::byte*>(data);
  memory.bytes_ = bytes;
  memory.kind_ = kind;
  memory.device_ = device;
  memory.is_borrowed_ = true;
  return memory;
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      kind_(other.kind_),
      device_(other.device_),
      is_borrowed_(other.is_borrowed_) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(kind_, other.kind_);
  std::swap(device_, other.device_);
  std::swap(is_borrowed_, other.is_borrowed_);
  return *this;
}

Memory::~Memory() {
  if (data_ == nullptr || is_borrowed_) return;
  if (kind_ != MemoryKind::pageable) require(cudaSetDevice(device_), "cudaSetDevice");
  release(kind_, data_, allocated_bytes(bytes_), device_);
}

void Memory::write(std::size_t offset, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (!lives_on_device(kind_)) {
    std::memcpy(data_ + offset, source, bytes);
    return;
  }
  require(cudaSetDevice(device_), "cudaSetDevice");
  require(cudaMemcpy(data_ + offset, source, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  require(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void Memory::read(std::size_t offset, void* destination, std::size_t bytes) const {
  if (bytes == 0) return;
  if (!lives_on_device(kind_)) {
    std::memcpy(destination, data_ + offset, bytes);
    return;
  }
  require(cudaSetDevice(device_), "cudaSetDevice");
  require(cudaMemcpy(destination, data_ + offset, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void Memory::write_in_stream_order(std::size_t offset, const void* source, std::size_t bytes) {
  if (!lives_on_device(kind_)) {
    write(offset, source, bytes);
    return;
  }
  if (bytes == 0) return;
  require(cudaSetDevice(device_), "cudaSetDevice");
  require(cudaMemcpyAsync(data_ + offset, source, bytes, cudaMemcpyHostToDevice, nullptr), "cudaMemcpyAsync");
}

}  // namespace penstock::test_support
