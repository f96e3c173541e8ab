// Device memory of Penstock's own, beside the buffers of one collective call. This header knows no
// collective.
#pragma once

#include <cstddef>
#include <optional>

#include "transports/cuda/context.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// The context of a call's buffers, and memory there for what other ranks send. Made before the ranks agree,
/// as it may be refused. Owns the memory.
class ScratchMemory {
 public:
  /// Returns none if the buffers are of different contexts or not the GPU's, or if there is no memory. Takes
  /// no memory for 0 bytes.
  [[nodiscard]] static std::optional<ScratchMemory> make(const void* own, const void* result,
                                                         std::size_t bytes);

  [[nodiscard]] const transports::cuda::ContextRef& context() const noexcept { return context_; }
  /// The buffer of `own`.
  [[nodiscard]] const transports::Buffer& own() const noexcept { return own_; }
  [[nodiscard]] std::byte* memory() const noexcept {
    return static_cast<std::byte*>(memory_.buffer().pointer);
  }

 private:
  transports::Buffer own_;
  transports::cuda::ContextRef context_;
  transports::cuda::RelaySlice memory_;
};

}  // namespace penstock::interpose
