// What can be ordered of the resident kernel besides copies: one-shot collectives, and updates of a few
// elements. Plain data. Knows no kernel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "transports/kernels/element_update.hpp"
#include "transports/kernels/one_shot_collective.hpp"

namespace penstock::transports {

/// The bytes, below 4 GiB, that a process sends to and receives from each process in a one-shot collective,
/// including its part to itself.
struct OneShotParts {
  std::uint64_t sent[kernels::most_sources];
  std::uint64_t received[kernels::most_sources];  ///< all equal for vectors
  bool is_for_each;                               ///< as in kernels::OneShotCollective
  bool is_checked;
};
[[nodiscard]] inline std::uint64_t largest_of(const OneShotParts& parts) noexcept {
  return std::max(std::ranges::max(parts.sent), std::ranges::max(parts.received));
}

/// A one-shot collective (transports/one_shot) for the resident kernel.
struct OneShotOrder {
  const void* own = nullptr;
  void* to = nullptr;
  OneShotParts parts{};                          ///< none larger than largest_one_shot_order
  std::uint32_t combined = 0;                    ///< as in kernels::OneShotCollective
  const kernels::OneShotRoute* route = nullptr;  ///< in device memory
  std::uint32_t stamp = 0;
  kernels::ResidentType type{};
  kernels::ReductionOperation operation{};
};

/// Above this size one block takes longer than a launch: 16 KiB take 13 µs by one block and 14.6 by a launch,
/// 32 KiB 17 and 14.9 (two H100). Several blocks must share larger ones; from 512 KiB on, a launch is as fast
/// again.
inline constexpr std::uint32_t largest_unshared_one_shot_order = 16384;
inline constexpr std::uint32_t largest_one_shot_order = 262144;

/// An update in place (kernels::ElementUpdate) for the resident kernel. All device memory is of the context
/// or mapped in it, and aligned as the elements are.
struct UpdateOrder {
  /// At an address on the device, or a value.
  struct Operand {
    const void* address = nullptr;
    std::uint64_t value = 0;
  };
  void* target = nullptr;
  Operand operand;
  Operand compared;
  void* result = nullptr;       ///< on the device, or
  void* host_result = nullptr;  ///< in host memory; both null: the earlier values are not wanted
  std::uint32_t bytes = 0;      ///< of all elements; at most kernels::largest_update
  std::uint32_t element_bytes = 0;
  kernels::UpdateKind kind{};
  kernels::ResidentType type{};
  kernels::ReductionOperation operation{};
};

}  // namespace penstock::transports
