// Starts small copies by what makes them fast: a resident kernel, and batches of copies by one launch. A copy
// call costs its caller microseconds however few bytes it moves. Knows neither offers nor how the sources
// became addressable.
#pragma once

#include <memory>

#include "transports/copies/copy_pull.hpp"

namespace penstock::transports {

/// Starts a copy from or into a layout in pieces by a kernel, alone or batched; `pull` stays null if no
/// kernel suits the copy. Thread: any; the pull one at a time. Errors: `declined` as long as nothing was
/// copied; the driver's refusal.
[[nodiscard]] Status start_strided_copy(const CopySource& source, const BufferView& destination,
                                        const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

/// Starts a small copy, both sides contiguous: by the resident kernel, in a batch, or, if neither serves, by
/// the copy engine, which makes it likelier that a kernel is resident for the next. `pull` stays null if no
/// kernel suits the copy. Thread: any; the pull one at a time. Errors: as CopyPull's; `declined` if the
/// driver cannot run our kernels.
[[nodiscard]] Status start_small_copy(const CopySource& source, const BufferView& destination,
                                      const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

}  // namespace penstock::transports
