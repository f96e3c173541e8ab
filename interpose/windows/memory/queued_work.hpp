// Waiting for what the application has queued on a GPU, where no stream can do it. Knows no window.
#pragma once

#include <cstdint>

#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Waits, with progress, for what the application had queued at `since_ns` (0: now) on the GPU of a buffer,
/// if it is on one. Work that is queued after the call has begun is not waited for, so that a stream which is
/// never idle ends it, too.
void wait_for_queued(const transports::Buffer& buffer, std::uint64_t since_ns);

}  // namespace penstock::interpose
