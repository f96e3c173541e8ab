// How efficient the ranks are in a part of the run: in an NVTX range, or in steps that follow each other.
#pragma once

namespace penstock::analysis {

struct PhaseEfficiency {
  double load_balance = 1;   ///< mean computing time in it, of the counted ranks, divided by the largest
  double communication = 1;  ///< the largest computing time divided by the longest time in it
  [[nodiscard]] double parallel() const noexcept { return load_balance * communication; }
};

}  // namespace penstock::analysis
