// Device memory of Penstock's own in each of several processes, to which all of them write: allocated,
// exported to the others, and mapped once. This header knows neither MPI nor what is written.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transports/cuda/context.hpp"
#include "transports/device_memory/ipc_cache.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/host/status.hpp"

namespace penstock::transports {

/// The message that a process sends to the others about its part. Trivially copyable.
struct SymmetricPart {
  cuda::RemoteRange range;
  std::uint64_t offset = 0;  ///< of the part, in the range
  CUipcMemHandle handle{};
  bool is_there = false;  ///< false: that process has none
};

/// Owns this process's part, and a share of the others' mappings. Thread: one at a time.
class SymmetricMemory {
 public:
  /// Makes this process's part, all zero when it returns; waits only for that. Errors: RelaySlice::take()'s;
  /// `declined` if it cannot be exported; the driver's refusal.
  [[nodiscard]] static Status make(const cuda::ContextRef& context, std::size_t bytes,
                                   SymmetricMemory& memory);
  [[nodiscard]] const SymmetricPart& part() const noexcept { return part_; }
  /// Maps the others' parts; `parts[own]` is this process's. Errors: `declined` if one is missing or out of
  /// reach.
  [[nodiscard]] Status open(std::span<const SymmetricPart> parts, std::size_t own);

  /// Null before make().
  [[nodiscard]] const cuda::ContextRef& context() const noexcept { return context_; }
  /// After open(): returns that process's part, as kernels of the context reach it.
  [[nodiscard]] std::byte* of(std::size_t process) const noexcept { return addresses_[process]; }
  [[nodiscard]] std::size_t processes() const noexcept { return addresses_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return slice_.bytes(); }

 private:
  cuda::ContextRef context_;
  cuda::RelaySlice slice_;
  SymmetricPart part_;
  std::vector<std::shared_ptr<const cuda::MappedRange>> mapped_;
  std::vector<std::byte*> addresses_;
};

}  // namespace penstock::transports
