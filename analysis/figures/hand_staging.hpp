// Finds device memory that a program copies by hand around messages of host memory: device → host before a
// send, host → device after a receive, of as many bytes as the message. Must not know exposed time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/causes/timeline.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// Messages count for the call site that posted them, collective calls for their own. A copy stands for one
/// message. A site is reported if copies were found for half of its messages, twice at least: one copy of the
/// same size may be chance. Thread: one at a time. Memory: proportional to the call sites.
class HandStaging {
 public:
  /// Returns the site of a return address and a function's string (0: unknown) of the rank.
  using SiteOf = std::function<std::uint32_t(std::uint64_t, std::uint32_t)>;
  void add(const RankTrace& rank, const Timeline& timeline, Interval window, const SiteOf& site_of);
  /// `sites`: maps the numbers of `part` to this object's.
  void merge(const HandStaging& part, std::span<const std::uint32_t> sites);
  /// Returns the figures by the time of the copies, largest first. `call_of_site`: formats function and place
  /// for people.
  [[nodiscard]] std::vector<HandStagingFigures> finish(
      const std::function<std::string(std::uint32_t)>& call_of_site) const;
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(sums_);
  }

 private:
  struct Sums {
    std::uint64_t messages = 0;
    std::uint64_t staged = 0;
    std::uint64_t bytes = 0;
    std::uint64_t copies_ns = 0;
    std::uint64_t exposed_copies_ns = 0;
  };
  std::map<std::uint32_t, Sums> sums_;  ///< by site
};

}  // namespace penstock::analysis
