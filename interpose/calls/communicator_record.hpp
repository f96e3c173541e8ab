// Records what a number of the recording stands for: a communicator, or what was made on one. Knows the
// recorder.
#pragma once

#include <cstdint>

#include "interpose/calls/communicators.hpp"

namespace penstock::interpose {

/// Records that, on this rank, `local_id` stands for what all members know as `global_id`. `members`: the
/// communicator, or that on which it was made. Errors: std::bad_alloc.
void record_members(std::uint64_t global_id, std::uint32_t local_id, const char* name,
                    const CommunicatorInfo& members);

}  // namespace penstock::interpose
