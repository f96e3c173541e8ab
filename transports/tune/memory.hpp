// Memory of a kind, on a device or on the host, for payloads that are measured. Knows the driver's calls for
// it, and nothing of transports.
#pragma once

#include <cstddef>

#include "transports/host/host_mapping.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports::tune {

/// Owns: the memory. The device's context must be current whenever it is made or goes.
class Memory {
 public:
  Memory() noexcept = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { release(); }

  /// In place of what it had. Device, async_pool, pinned or pageable. Has been written to.
  [[nodiscard]] Status allocate(BufferKind kind, std::size_t bytes) noexcept;
  /// `bytes` of it, from `offset` on.
  [[nodiscard]] Place place(std::size_t offset, std::size_t bytes) const;

 private:
  void release() noexcept;

  BufferKind kind_ = BufferKind::unknown;
  CUdeviceptr device_memory_ = 0;
  HostMapping host_memory_;
};

}  // namespace penstock::transports::tune
