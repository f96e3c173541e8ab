// What a kernel on each rank would do of a collective. Knows no collective.
#pragma once

#include <cstddef>
#include <variant>

#include "transports/cuda/context.hpp"
#include "transports/fused/fused_collective.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Refers to the user's buffers.
using FusedWork = std::variant<transports::FusedVectors, transports::FusedBlocks>;

/// Of what each rank gets from each.
[[nodiscard]] inline std::size_t bytes_of(const FusedWork& work) noexcept {
  if (const auto* const blocks = std::get_if<transports::FusedBlocks>(&work)) return blocks->bytes;
  const auto& vectors = std::get<transports::FusedVectors>(work);
  return vectors.count * transports::bytes_of(vectors.type);
}

/// What a rank offers of a call: that work, from `own` and in that context, which does not wait for what the
/// application has queued. A value.
struct OfferedKernel {
  FusedWork work;
  transports::Buffer own;
  transports::cuda::ContextRef context;
};

}  // namespace penstock::interpose
