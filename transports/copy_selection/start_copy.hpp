// Starts the copy of memory that this process can address by the fastest method for its size and its two
// sides: a kernel (resident, batched or for layouts in pieces) or the copy engine (directly or through a ring
// of pinned chunks). Knows neither offers nor how the source became addressable.
#pragma once

#include <memory>

#include "transports/copies/copy_pull.hpp"

namespace penstock::transports {

/// Starts the copy as `pull`. Thread: any; the pull one at a time. Errors: `bad_argument` for a message
/// longer than its receive; as CopyPull's.
[[nodiscard]] Status start_copy(const CopySource& source, const BufferView& destination,
                                const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

}  // namespace penstock::transports
