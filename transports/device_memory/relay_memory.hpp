// Device memory of Penstock's own, in slices, for payloads that other processes cannot read where they lie.
// Each context has one allocation, so that it is exported and mapped once. It is made on first use and kept,
// since freeing device memory waits for the application's kernels. Knows neither messages nor IPC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transports/cuda/context.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports::cuda {

class RelayArena;

/// A slice on loan from its context's allocation. Owns the loan. Thread: one at a time.
class RelaySlice {
 public:
  static constexpr std::size_t unit_bytes = 2u << 20;
  static constexpr std::size_t arena_bytes = 64 * unit_bytes;

  /// Takes a slice of `bytes`, rounded up to a power of two of units. Errors: `declined` while too much is on
  /// loan; out_of_memory if the device has none. `context` must be current. Thread: any. Cost: a search in 64
  /// bits, after the first call.
  [[nodiscard]] static Status take(const ContextRef& context, std::size_t bytes, RelaySlice& slice);
  /// Frees all allocations of which nothing is on loan, and forgets the others.
  static void drop_all() noexcept;

  RelaySlice() noexcept = default;
  RelaySlice(RelaySlice&& other) noexcept { *this = std::move(other); }
  RelaySlice& operator=(RelaySlice&& other) noexcept;
  ~RelaySlice();

  [[nodiscard]] explicit operator bool() const noexcept { return arena_ != nullptr; }
  /// The slice's first byte, in the allocation.
  [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<RelayArena> arena_;
  Buffer buffer_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::transports::cuda
