// Adds up the time in NVTX ranges by name, and how much of it is counted. Must not know causes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

class PhaseSums {
 public:
  void add(const RankInput& rank);
  auto members() { return std::tie(sums_); }
  void finish(Report& report, SiteNames& names);

 private:
  struct Name {
    std::string text;
    [[nodiscard]] Name renumbered(const Renumbering&) const { return *this; }
    auto operator<=>(const Name&) const = default;
    auto members() { return std::tie(text); }
  };
  struct Sums {
    std::uint64_t total_ns = 0;
    std::uint64_t counted_ns = 0;
    auto members() { return std::tie(total_ns, counted_ns); }
  };
  SumsBy<Name, Sums> sums_;
};

}  // namespace penstock::analysis
