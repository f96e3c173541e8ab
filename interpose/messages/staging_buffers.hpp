// Address space for receives whose payload will most likely not arrive through the MPI library. It is
// reserved in full size (within an eighth, as address space may be limited) but not touched unless a real
// host payload arrives. Pooled, since mapping costs microseconds. Knows no MPI call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::interpose {

/// Owns one buffer until destroyed, then returns it to the pool. Thread: any. Errors: data() is null if no
/// address space is left.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  explicit StagingBuffer(std::size_t bytes) noexcept;
  ~StagingBuffer();
  StagingBuffer(StagingBuffer&& other) noexcept;
  StagingBuffer& operator=(StagingBuffer&& other) noexcept;

  [[nodiscard]] void* data() const noexcept { return data_; }
  /// Declares that only the first `bytes` were written. An untouched rest need not be released, which takes a
  /// system call. Without this call, all of the buffer counts as written.
  void was_written(std::size_t bytes) noexcept { written_bytes_ = bytes; }

 private:
  void* data_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::size_t resident_bytes_ = 0;  ///< at the beginning, when the buffer was taken
  std::size_t written_bytes_ = SIZE_MAX;
};

/// Unmaps the pool's buffers.
void drop_staging_buffers() noexcept;

}  // namespace penstock::interpose
