// Identifies the process of this machine that published something, and reports whether it still lives.
// Process ids are used again, so a nonce goes with them. Knows neither CUDA nor messages.
#pragma once

#include <cstdint>

namespace penstock::transports {

struct ProcessIdentity {
  std::int64_t id = 0;
  std::uint64_t nonce = 0;  ///< start time of the process and random bits; never 0 for a real process
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// Thread: any. Cost: two loads (a forked child is another process).
[[nodiscard]] ProcessIdentity this_process() noexcept;

/// Returns false once the process has exited or was killed, also while it is not reaped yet. True if it
/// cannot be known. Cost: reads /proc, some 10 µs.
[[nodiscard]] bool is_alive(const ProcessIdentity& process) noexcept;

}  // namespace penstock::transports
