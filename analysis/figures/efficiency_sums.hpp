// Sums over ranks of which the efficiency of a part of the run is made. Must not know which part.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "analysis/report/phase_efficiency.hpp"
#include "analysis/tables/merging.hpp"

namespace penstock::analysis {

class EfficiencySums {
 public:
  /// Adds a rank's time in the part, and how much of it the rank computed.
  void add(std::uint64_t total_ns, std::uint64_t computing_ns) {
    total_ns_ += total_ns;
    computing_ns_ += computing_ns;
    longest_.ns = std::max(longest_.ns, total_ns);
    most_computing_.ns = std::max(most_computing_.ns, computing_ns);
  }
  auto members() { return std::tie(total_ns_, computing_ns_, longest_, most_computing_); }
  [[nodiscard]] std::uint64_t total_ns() const noexcept { return total_ns_; }
  /// Returns nullopt if nothing computes in it. `ranks`: those that are counted.
  [[nodiscard]] std::optional<PhaseEfficiency> of(std::uint64_t ranks) const {
    if (computing_ns_ == 0 || ranks == 0) {
      return std::nullopt;
    }
    const auto most_ns = static_cast<double>(most_computing_.ns);
    return PhaseEfficiency{static_cast<double>(computing_ns_) / static_cast<double>(ranks) / most_ns,
                           most_ns / static_cast<double>(longest_.ns)};
  }

 private:
  /// The largest of all ranks.
  struct Most {
    std::uint64_t ns = 0;
    void merge(Most&& part, const Renumbering&) { ns = std::max(ns, part.ns); }
    auto members() { return std::tie(ns); }
  };
  std::uint64_t total_ns_ = 0;
  std::uint64_t computing_ns_ = 0;
  Most longest_;         ///< total_ns of a rank
  Most most_computing_;  ///< likewise
};

}  // namespace penstock::analysis
