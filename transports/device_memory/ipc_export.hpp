// The sender's side of CUDA IPC: handles of its own allocations. A handle is requested once and remembered by
// buffer id; a refusal is remembered for a while.
#pragma once

#include <cuda.h>

#include "transports/memory/buffer.hpp"

namespace penstock::transports::cuda {

/// A handle of the whole allocation that the buffer lies in, or the literal reason why there is none.
struct Export {
  CUipcMemHandle handle{};
  const char* why_not = nullptr;  ///< null: the handle is good
  int error = 0;                  ///< CUresult, if the driver was called
};

/// Thread: any. Cost: a table look-up, the first time a driver call.
[[nodiscard]] Export export_range(const Buffer& buffer);

}  // namespace penstock::transports::cuda
