// Memory of every kind that a message's buffer can be made of, allocated by the driver API, for tests of the
// transports. Errors abort: a test cannot go on without memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/memory/buffer.hpp"

namespace penstock::transports::test {

/// Those that an allocation can have.
inline constexpr BufferKind buffer_kinds[] = {BufferKind::pageable,       BufferKind::pinned,
                                              BufferKind::device,         BufferKind::async_pool,
                                              BufferKind::virtual_memory, BufferKind::managed};

/// Says what failed and aborts.
void require(CUresult result, const char* call);
#define REQUIRE_CUDA(call) ::penstock::transports::test::require((call), #call)

/// Initialises CUDA and makes the device's primary context current on this thread.
void use_device(int device);
[[nodiscard]] int device_count();
/// Kernels of the first device's primary context reach memory of the second's from now on; false: they
/// cannot.
[[nodiscard]] bool enable_peer_access(int device, int peer);

/// Owns an allocation on a device (or the host). Virtual memory is mapped from two chunks, and the data
/// straddle them.
class GpuMemory {
 public:
  GpuMemory(BufferKind kind, std::size_t bytes, int device = 0);
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  [[nodiscard]] void* data() const noexcept { return reinterpret_cast<void*>(data_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  void write(const std::vector<std::uint8_t>& content) const;
  [[nodiscard]] std::vector<std::uint8_t> read() const;

 private:
  void map_chunks();
  void unmap_chunks();

  BufferKind kind_;
  std::size_t bytes_;
  int device_;
  CUdeviceptr data_ = 0;
  CUdeviceptr reserved_ = 0;
  std::size_t chunk_bytes_ = 0;
  std::vector<CUmemGenericAllocationHandle> chunks_;
};

/// Byte `index` of the payload with that seed.
[[nodiscard]] constexpr std::uint8_t payload_byte(std::uint64_t seed, std::size_t index) noexcept {
  return static_cast<std::uint8_t>(index * 131 + (index >> 8) * 7 + (index >> 16) * 29 + seed * 17 + 1);
}
inline constexpr std::uint8_t guard_byte = 0xa5;

/// Puts the payload where the layout says (the first `payload_bytes` of it) and guard bytes everywhere else.
void fill(const GpuMemory& memory, const Layout& layout, std::size_t payload_bytes, std::uint64_t seed);
/// Index in the memory of the first byte that is not as fill() would have left it; -1 if all are right.
[[nodiscard]] std::ptrdiff_t first_difference(const GpuMemory& memory, const Layout& layout,
                                              std::size_t payload_bytes, std::uint64_t seed);

}  // namespace penstock::transports::test
