// Adds up the time in NVTX ranges by name, how much of it is counted, and how it varies from step to step.
// Must not know causes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
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
  /// The largest of all ranks.
  struct Most {
    std::uint64_t ns = 0;
    void merge(Most&& part, const Renumbering&) { ns = std::max(ns, part.ns); }
    auto members() { return std::tie(ns); }
  };
  struct Sums {
    std::uint64_t total_ns = 0;
    std::uint64_t counted_ns = 0;
    std::uint64_t computing_ns = 0;
    Most longest;                                               ///< total_ns of a rank
    Most most_computing;                                        ///< likewise
    std::array<std::uint64_t, most_step_batches> batches_ns{};  ///< of total_ns
    auto members() {
      return std::tie(total_ns, counted_ns, computing_ns, longest, most_computing, batches_ns);
    }
  };
  [[nodiscard]] static std::optional<PhaseEfficiency> efficiency_of(const Sums& sums, std::uint64_t ranks);

  SumsBy<Name, Sums> sums_;
};

}  // namespace penstock::analysis
