// When a kernel stands by for small copies, and the copies that it makes. It is launched only as long as
// small copies follow each other quickly, so that it does not stand by in vain, and while the caller waits
// for one of them anyway. Knows neither offers nor how the sources came to be addressable.
#pragma once

#include <cstdint>
#include <memory>

#include "transports/copies/copy_pull.hpp"

namespace penstock::transports {

/// How long the kernel stays when it has nothing to do, while the program's thread is inside MPI calls; 0, as
/// at the start: never use one. Thread: any.
void set_linger(std::uint64_t linger_ns) noexcept;

/// It could make this copy, into a place that is settled: from a device that kernels of the context reach to
/// a device, or so little to host memory that a bounce buffer does not slow it down.
[[nodiscard]] bool suits_standby(const CopySource& source, const Place& destination) noexcept;
/// And it would be shared by several blocks of it.
[[nodiscard]] bool suits_sharing(const CopySource& source, const Place& destination) noexcept;
/// Starts a copy that suits_standby(), if a kernel is ready; else null. Thread: any; the pull one at a time.
/// Errors of the pull: as CopyPull's.
[[nodiscard]] std::unique_ptr<Pull> start_standing_by(const CopySource& source, const Place& destination,
                                                      const cuda::ContextRef& context);

/// Between a device and host memory, at once, if a kernel is ready and the application's earlier work is
/// done. False: nothing was copied, for whatever reason. Thread: any.
[[nodiscard]] bool download_standing_by(void* to, const Place& source,
                                        const cuda::ContextRef& context) noexcept;
[[nodiscard]] bool upload_standing_by(const Place& destination, const void* from,
                                      const cuda::ContextRef& context) noexcept;

/// A copy that a kernel could have made is under way otherwise. Cost: a load while there is no lingering;
/// else some tens of ns, and now and then a launch (2.6 µs on an H200 host). `known`: memory of the context's
/// device, not managed. Thread: any.
/// `is_shared`: of those that several blocks would share.
void note_small_copy(const cuda::ContextRef& context, const void* known, bool is_shared = false) noexcept;

/// Sends all kernels away and waits for them, a bounded time. For shut_down().
void end_standing_by() noexcept;

}  // namespace penstock::transports
