// Memory that MPI_Win_allocate gives the application: the host's or a GPU's. Knows no window.
#pragma once

#include <cstddef>

#include "transports/cuda/context.hpp"
#include "transports/host/host_mapping.hpp"
#include "transports/host/status.hpp"

namespace penstock::interpose {

/// Owns the memory. Thread: one at a time.
class AllocatedMemory {
 public:
  AllocatedMemory() noexcept = default;
  AllocatedMemory(AllocatedMemory&& other) noexcept { *this = std::move(other); }
  AllocatedMemory& operator=(AllocatedMemory&& other) noexcept;
  ~AllocatedMemory();

  /// Makes memory of the host, or of the GPU that the calling thread uses. Errors: out_of_memory; no GPU in
  /// use.
  [[nodiscard]] static Status make(std::size_t bytes, bool on_device, AllocatedMemory& memory);
  /// Null if there are no bytes.
  [[nodiscard]] void* address() const noexcept;

 private:
  transports::HostMapping host_;
  transports::cuda::ContextRef context_;
  CUdeviceptr device_ = 0;
};

}  // namespace penstock::interpose
