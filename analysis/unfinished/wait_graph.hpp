// Finds out who waits for whom in the end: cycles, and chains that end at a rank which waits for nobody.
// Knows neither recordings nor MPI; ranks are numbers from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::analysis {

/// A call that cannot end before all of these ranks, or one of them, have done something.
struct Need {
  std::vector<std::int32_t> ranks;
  bool any_is_enough = false;
};

/// Ranks that wait, each for the next; the last one waits for nobody, or in a cycle for the first.
struct WaitPath {
  std::vector<std::int32_t> ranks;
  std::uint64_t waiting_ranks =
      0;  ///< that wait for its end, or for the cycle, directly or not; a cycle's own too
};

struct WaitPaths {
  std::vector<WaitPath> cycles;
  std::vector<WaitPath> chains;  ///< by waiting ranks, most first; the longest to each end
};

/// `needs[r]`: the calls that rank r is in, one a thread: it goes on as soon as one of them can end. Without
/// any, or with one that needs nobody, it waits for nobody. Cost: linear in the needs, and in ranks for each
/// cycle found.
[[nodiscard]] WaitPaths find_wait_paths(const std::vector<std::vector<Need>>& needs);

}  // namespace penstock::analysis
