// Finds out where the launcher has put this rank: its cores and its GPUs, as the recording's facts have them.
// Must not know the recording.
#pragma once

#include <sched.h>

#include <string>
#include <vector>

#include "interpose/record/gpu/cuda_presence.hpp"

namespace penstock::record {

/// Returns the cores that the calling thread may use, as Linux writes them: "0-3,8"; empty: not known.
/// Errors: std::bad_alloc.
[[nodiscard]] std::string allowed_cores();

/// Returns the text of such a set. `cores`: the size of its memory, in cores.
[[nodiscard]] std::string text_of_cores(const cpu_set_t& set, std::size_t cores);

/// Returns "0000:01:00.0 1b4e…", PCI address and identity, for each GPU in use. Parts of one GPU (MIG) have
/// the same address and an identity each. Errors: std::bad_alloc.
[[nodiscard]] std::vector<std::string> gpus_in_use();

}  // namespace penstock::record
