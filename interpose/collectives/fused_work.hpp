// What a kernel on each rank would do of a collective. Knows no collective.
#pragma once

#include <variant>

#include "transports/fused/fused_collective.hpp"

namespace penstock::interpose {

/// Refers to the user's buffers.
using FusedWork = std::variant<transports::FusedVectors, transports::FusedBlocks>;

}  // namespace penstock::interpose
