// Mapped host memory that the GPU copies to and from. The driver unpins only when it has waited for the
// application's work, which may itself wait for the return of this call: what goes out of use while a GPU
// works is unpinned and unmapped later. Knows no messages.
#pragma once

#include <cstddef>
#include <memory>

#include "transports/cuda/context.hpp"
#include "transports/host/host_mapping.hpp"

namespace penstock::transports::cuda {

/// Owns the mapping. Thread: any may pin.
class PinnableMapping {
 public:
  /// Errors: std::bad_alloc.
  explicit PinnableMapping(HostMapping mapping);
  /// Does not wait for the GPU.
  ~PinnableMapping();
  PinnableMapping(PinnableMapping&&) noexcept;
  PinnableMapping& operator=(PinnableMapping&&) = delete;

  [[nodiscard]] char* address() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Pins the memory, if it is not pinned; `context` must be current. Returns false if it cannot be pinned.
  bool pin(const ContextRef& context) noexcept;

  /// Unpins and unmaps what is out of use, if the GPU is quiet. Cost: a lock, if there is nothing.
  static void free_unused() noexcept;
  /// Likewise, whatever the GPU does; waits for it.
  static void free_all_unused() noexcept;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace penstock::transports::cuda
