// Named ranges of the thread's time, for profiles.
#pragma once

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define GMH_HAS_NVTX 1
#else
#define GMH_HAS_NVTX 0
#endif

namespace gmh {

class Range {
 public:
  explicit Range([[maybe_unused]] const char* name) {
#if GMH_HAS_NVTX
    nvtxRangePushA(name);
#endif
  }
  ~Range() {
#if GMH_HAS_NVTX
    nvtxRangePop();
#endif
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace gmh
