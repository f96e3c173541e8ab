// Address space for receives whose payload will most likely not come through the MPI library: it is reserved
// in full size (within an eighth: address space may be limited) but not touched unless a real host payload
// arrives. Pooled, since mapping costs microseconds. Knows no MPI call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::interpose {

/// Owns one buffer until destroyed, then gives it back to the pool. Thread: any.
/// Errors: data() is null when no address space was to be had.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  explicit StagingBuffer(std::size_t bytes) noexcept;
  ~StagingBuffer();
  StagingBuffer(StagingBuffer&& other) noexcept;
  StagingBuffer& operator=(StagingBuffer&& other) noexcept;

  [[nodiscard]] void* data() const noexcept { return data_; }
  /// The first `bytes` are all that was written to it: what was not touched need not be given back, which
  /// takes a system call. Unless this is said, all of it may have been.
  void was_written(std::size_t bytes) noexcept { written_bytes_ = bytes; }

 private:
  void* data_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::size_t written_bytes_ = SIZE_MAX;
};

/// Unmaps what the pool holds.
void drop_staging_buffers() noexcept;

}  // namespace penstock::interpose
