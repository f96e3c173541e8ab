// Adds up the copies with which a program stages messages by hand, by call site. Must not know exposed time.
#pragma once

#include <cstdint>
#include <tuple>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

/// Messages count for the call site that posted them, collective calls for their own. Thread: one at a time.
/// Memory: proportional to the call sites.
class HandStaging {
 public:
  void add(const RankInput& rank);
  auto members() { return std::tie(sums_); }
  /// Orders the figures by the time of the copies, largest first.
  void finish(Report& report, SiteNames& names);

 private:
  struct Sums {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t copies_ns = 0;
    std::uint64_t exposed_copies_ns = 0;
    auto members() { return std::tie(messages, bytes, copies_ns, exposed_copies_ns); }
  };
  SumsBySite<Sums> sums_;
};

}  // namespace penstock::analysis
