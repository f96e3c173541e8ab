// When a kernel stands by for small payloads, and pulls that go through it. It is launched while a call waits
// for a payload and has nothing better to do, and only as long as small payloads follow each other quickly,
// so that it does not stand by in vain. Knows neither offers nor how the sources came to be addressable.
#pragma once

#include <cstdint>
#include <memory>

#include "transports/copy_pull.hpp"

namespace penstock::transports {

/// How long the kernel stays when it has nothing to do, while the program's thread is inside MPI calls; 0, as
/// at the start: never use one. Thread: any.
void set_linger(std::uint64_t linger_ns) noexcept;

/// A call waits for a payload for this place. Cost: a load while there is no lingering; else some tens of ns,
/// and now and then a launch (2.6 µs on an H200 host). Thread: any.
void stand_by(const Place& destination) noexcept;

/// Starts a pull (one that suits_a_batch()) by the kernel, if one is ready; else null. Thread: any; the pull
/// one at a time. Errors of the pull: as CopyPull's.
[[nodiscard]] std::unique_ptr<Pull> start_standing_by(const CopySource& source, const Place& destination,
                                                      const cuda::ContextRef& context);

/// A small payload is being pulled in the context, by whatever means.
void note_small_pull(const cuda::ContextRef& context);

/// Sends all kernels away and waits for them, a bounded time. For shut_down().
void end_standing_by() noexcept;

}  // namespace penstock::transports
