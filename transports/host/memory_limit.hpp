// How much memory the processes of a job may use on this machine. Knows Linux's control groups.
#pragma once

#include <cstdint>

namespace penstock::transports {

/// Returns the machine's memory, or what this process' control group and those around it allow if that is
/// less. Bytes. `root`: of the file system, for tests. Cost: reads some files.
[[nodiscard]] std::uint64_t memory_limit_bytes(const char* root = "") noexcept;

}  // namespace penstock::transports
