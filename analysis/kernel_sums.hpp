// Adds up, by kernel of the application, how much communication ran behind it and how much was exposed when
// it had ended. Knows no causes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "analysis/rank_trace.hpp"
#include "analysis/report.hpp"
#include "analysis/string_pool.hpp"
#include "analysis/timeline.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: by the number of distinct kernels and call sites.
class KernelSums {
 public:
  explicit KernelSums(StringPool& strings) : strings_(strings) {}
  /// `site_of_call`: of an index into the rank's calls.
  void add(const RankTrace& rank, const Timeline& timeline,
           const std::function<std::uint32_t(std::uint32_t)>& site_of_call);
  /// `place_of_site`: for people. By what was exposed after them, then by what they hide.
  [[nodiscard]] std::vector<KernelFigures> finish(
      const std::function<std::string(std::uint32_t)>& place_of_site) const;

 private:
  struct Sums {
    std::uint64_t launches = 0;
    std::uint64_t running_ns = 0;
    std::uint64_t hides_ns = 0;
  };
  StringPool& strings_;
  std::map<std::uint32_t, Sums> sums_;                                              ///< by name
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> exposed_after_;  ///< by name and site
};

}  // namespace penstock::analysis
