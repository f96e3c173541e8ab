// Sets flags once a payload may be read, that is, once the work which the application queued before its MPI
// call is done. The process that waits for a flag may be another. Knows nothing of MPI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/cuda/context.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Sets the memory that flags lie in. The GPU writes such a flag a few µs after the work is done, whereas a
/// host function takes the driver's thread tens of µs and more. The memory must be page-aligned, because it
/// is pinned on first use. If pinning fails, host functions (cuLaunchHostFunc) set the flags. It must stay
/// mapped until forget_flag_memory().
void set_flag_memory(void* memory, std::size_t bytes) noexcept;
/// Sets the flags that signal_with_next() has left and unpins the memory; for shut_down().
void forget_flag_memory() noexcept;

/// Stores 1 (release) to `flag` once the work that was queued on the buffer's device when the view was
/// handed over is done. If it is done already, the calling thread stores at once; else the driver does,
/// without a thread of the application. `flag` must stay mapped until then. On failure waits for the work and
/// stores 1. Settles the flags that signal_with_next() has left. Cost: as is_idle(). Thread: any.
void signal_when_ready(const BufferView& view, std::atomic<std::uint32_t>* flag) noexcept;

/// Does the same for one of several places that are handed over in calls that follow each other closely. An
/// event is recorded behind what is queued before each, and one query serves about eight flags. The flag may
/// therefore stay 0 until settle_signals(), or for some 5 ms. Cost: 0.4 µs (H200), where a query takes 1.3.
void signal_with_next(const BufferView& view, std::atomic<std::uint32_t>* flag) noexcept;
/// Sets all these flags, or has the driver set them. Takes up to 3 µs, but does not wait for the application.
/// Cost: a load if there are none. Thread: any.
void settle_signals() noexcept;
[[nodiscard]] bool has_marked_signals() noexcept;
/// Ensures that the flag is not set any more, if it is one of these.
void forget_signal(const std::atomic<std::uint32_t>* flag) noexcept;

/// Returns where kernels on the buffer's device find a flag; null if they cannot reach it. Thread: any.
/// Errors: std::bad_alloc.
[[nodiscard]] void* address_for_kernels(const Buffer& buffer, std::atomic<std::uint32_t>* flag);

/// Has the GPU store 1 (release) to `flag` behind what is queued in the stream. On failure nothing is stored.
/// Thread: any.
[[nodiscard]] Status signal_behind(const cuda::ContextRef& context, CUstream stream,
                                   std::atomic<std::uint32_t>* flag) noexcept;

}  // namespace penstock::transports
