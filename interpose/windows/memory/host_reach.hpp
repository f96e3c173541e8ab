// Host memory of another process of this node, read and written by the kernel (process_vm_readv). Knows no
// window.
#pragma once

#include <cstdint>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Lets other processes of this user reach this one's memory, where the kernel would allow it to its parents
/// only (Yama's ptrace_scope 1).
void allow_others_to_reach_memory() noexcept;

/// Copies the bytes of a layout at `base` in the other process to `packed`, or back. Errors: `system_failed`.
[[nodiscard]] Status read_host_memory(std::int64_t process, std::uint64_t base,
                                      const transports::Layout& where, void* packed) noexcept;
[[nodiscard]] Status write_host_memory(std::int64_t process, std::uint64_t base,
                                       const transports::Layout& where, const void* packed) noexcept;

}  // namespace penstock::interpose
