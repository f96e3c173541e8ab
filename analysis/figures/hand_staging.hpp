// Finds device memory that a program copies by hand around messages of host memory: device → host before a
// send, host → device after a receive, of as many bytes as the message. Must not know exposed time.
#pragma once

#include <cstdint>
#include <tuple>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

/// Messages count for the call site that posted them, collective calls for their own. A copy stands for one
/// message. A site is reported if copies were found for half of its messages, twice at least: one copy of the
/// same size may be chance. Thread: one at a time. Memory: proportional to the call sites.
class HandStaging {
 public:
  explicit HandStaging(const FigureContext& context) : sites_(context.sites) {}
  void add(const RankInput& rank);
  auto members() { return std::tie(sums_); }
  /// Orders the figures by the time of the copies, largest first.
  void finish(Report& report, SiteNames& names);

 private:
  struct Sums {
    std::uint64_t messages = 0;
    std::uint64_t staged = 0;
    std::uint64_t bytes = 0;
    std::uint64_t copies_ns = 0;
    std::uint64_t exposed_copies_ns = 0;
    auto members() { return std::tie(messages, staged, bytes, copies_ns, exposed_copies_ns); }
  };
  SiteTable& sites_;
  SumsBySite<Sums> sums_;
};

}  // namespace penstock::analysis
