// Memory of every kind that a message buffer can be made of, for test programs. Uses the CUDA runtime API as
// a user's program would; knows neither MPI nor Penstock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::test_support {

enum class MemoryKind : std::uint8_t { pageable, pinned, device, async_pool, managed, virtual_memory };
inline constexpr std::array memory_kinds = {MemoryKind::pageable, MemoryKind::pinned,
                                            MemoryKind::device,   MemoryKind::async_pool,
                                            MemoryKind::managed,  MemoryKind::virtual_memory};
[[nodiscard]] const char* name_of(MemoryKind kind) noexcept;
[[nodiscard]] constexpr bool lives_on_device(MemoryKind kind) noexcept {
  return kind != MemoryKind::pageable && kind != MemoryKind::pinned;
}

/// How many GPUs the process sees; 0 without a driver.
[[nodiscard]] int gpu_count() noexcept;

/// Owns an allocation. Errors: a line, and the process aborts: a test cannot go on without memory.
class Memory {
 public:
  Memory() noexcept = default;
  Memory(MemoryKind kind, std::size_t bytes, int device = 0);
  /// Names memory that another owner frees.
  [[nodiscard]] static Memory borrowed(void* data, MemoryKind kind, std::size_t bytes, int device) noexcept;
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] MemoryKind kind() const noexcept { return kind_; }
  [[nodiscard]] int device() const noexcept { return device_; }

  /// Copies from or to the host; done when it returns.
  void write(std::size_t offset, const void* source, std::size_t bytes);
  void read(std::size_t offset, void* destination, std::size_t bytes) const;

  /// Queues the copy on the legacy default stream and returns at once where the kind allows it (`source`
  /// should be pinned): the MPI call that follows must wait for it. Host kinds: the same as write().
  void write_in_stream_order(std::size_t offset, const void* source, std::size_t bytes);

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  MemoryKind kind_ = MemoryKind::pageable;
  int device_ = 0;
  bool is_borrowed_ = false;
};

}  // namespace penstock::test_support
