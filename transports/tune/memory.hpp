// Memory of a kind, on a device or on the host, for the payloads of measurements. This header knows the
// driver's calls for it, and no transport.
#pragma once

#include <cstddef>

#include "transports/host/host_mapping.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports::tune {

/// Owns the memory. The device's context must be current when it is allocated or freed.
class Memory {
 public:
  Memory() noexcept = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { release(); }

  /// Replaces the memory: device, async_pool, pinned or pageable. Host memory has been written to.
  [[nodiscard]] Status allocate(BufferKind kind, std::size_t bytes) noexcept;
  /// Returns `bytes` of it, from `offset` on.
  [[nodiscard]] BufferView view(std::size_t offset, std::size_t bytes) const;

 private:
  void release() noexcept;

  BufferKind kind_ = BufferKind::unknown;
  CUdeviceptr device_memory_ = 0;
  HostMapping host_memory_;
};

}  // namespace penstock::transports::tune
