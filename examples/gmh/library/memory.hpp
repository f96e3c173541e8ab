// GPU memory with an optional pinned shadow, and parts of it.
#pragma once

#include <memory>

#include "examples/gmh/library/gpu_handles.hpp"

namespace gmh {

class Memory {
 public:
  Memory(std::size_t bytes, int permission, bool with_shadow)
      : block_(std::make_shared<Block>(bytes, with_shadow)), bytes_(bytes), permission_(permission) {}
  Memory(const Memory& whole, std::size_t offset, std::size_t bytes)
      : block_(whole.block_),
        offset_(whole.offset_ + offset),
        bytes_(bytes),
        permission_(whole.permission_),
        is_whole_(false) {}

  [[nodiscard]] char* gpu() const noexcept { return block_->gpu.get() + offset_; }
  /// Returns null if there is no shadow.
  [[nodiscard]] char* host() const noexcept {
    return block_->host.get() == nullptr ? nullptr : block_->host.get() + offset_;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool may(int permission) const noexcept { return (permission_ & permission) == permission; }
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
  [[nodiscard]] bool is_shared() const noexcept { return block_.use_count() > 1; }
  /// Keeps the memory allocated for ever, since MPI may still use it.
  void leak() noexcept {
    block_->gpu.leak();
    block_->host.leak();
  }

 private:
  struct Block {
    Block(std::size_t bytes, bool with_shadow) : gpu(bytes), host(with_shadow ? bytes : 0) {}
    GpuBytes gpu;
    PinnedBytes host;
  };

  std::shared_ptr<Block> block_;
  std::size_t offset_ = 0;
  std::size_t bytes_;
  int permission_;
  bool is_whole_ = true;
};

/// Throws if a copy between the memory and its shadow is impossible or not permitted.
inline void check_copy(const Memory& memory, int direction) {
  if (direction != GMH_TO_HOST && direction != GMH_TO_GPU)
    fail(GMH_ERR_ARGUMENT, "there is no direction %d", direction);
  if (memory.host() == nullptr)
    fail(GMH_ERR_ARGUMENT, "a copy to or from the shadow of a memory that has none");
  if (!memory.may(direction == GMH_TO_HOST ? GMH_READ : GMH_WRITE))
    fail(GMH_ERR_PERMISSION, "the memory may not be %s", direction == GMH_TO_HOST ? "read" : "written");
}

/// Queues that copy.
inline void copy_shadow(const Memory& memory, cudaStream_t stream, int direction) {
  const bool to_host = direction == GMH_TO_HOST;
  check(cudaMemcpyAsync(to_host ? memory.host() : memory.gpu(), to_host ? memory.gpu() : memory.host(),
                        memory.bytes(), to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, stream),
        "copy between a memory and its shadow");
}

}  // namespace gmh
