// Finds host code that the GPU is idle for, on one rank or on all, and tries the job without it. Must not
// know other changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/changes/change.hpp"

namespace penstock::analysis {

/// Host code lies between two calls of MPI, and in an NVTX range. Counted is the part with neither a kernel
/// nor a copy, and without a kernel that has been launched and not begun; short pieces are not. Thread: one
/// at a time. Memory: 24 bytes a piece.
class HostGaps {
 public:
  void add(const GraphRank& rank);
  void propose(const Trial& trial);

 private:
  struct Place {
    std::uint32_t before;  ///< the site that called MPI before it; no_site: none did
    std::uint32_t behind;
    std::uint32_t range;  ///< a name; no_range
    auto operator<=>(const Place&) const = default;
  };
  struct OfRank {
    std::vector<Interval> pieces;  ///< in the clock of the first rank's host
    std::uint64_t total_ns = 0;
    std::vector<std::uint64_t> times_ns;  ///< between two calls of MPI
    /// Returns how often it is there for long: what is less than a tenth of the mean is how the machine runs.
    [[nodiscard]] std::uint64_t times() const;
  };
  using OfRanks = std::map<std::size_t, OfRank>;  ///< by position
  static constexpr std::uint32_t no_range = ~std::uint32_t{0};
  void join_ends();
  [[nodiscard]] static std::vector<std::string> calls_of(const Place& place, const Trial& trial);
  void propose_for(const Place& place, const OfRanks& ranks, const Trial& trial) const;
  void propose_all(const Trial& trial) const;

  std::map<Place, OfRanks> places_;
};

}  // namespace penstock::analysis
