// Adds up the time in NVTX ranges by name, how much of it is counted, and how it varies from step to step.
// Must not know causes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/figures/efficiency_sums.hpp"
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
    std::uint64_t counted_ns = 0;
    EfficiencySums efficiency;
    std::array<std::uint64_t, most_step_batches> batches_ns{};  ///< of the time in it
    auto members() { return std::tie(counted_ns, efficiency, batches_ns); }
  };

  SumsBy<Name, Sums> sums_;
};

}  // namespace penstock::analysis
