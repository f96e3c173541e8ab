// Adds up unattributed time by its reason and by MPI function. Must not know other causes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

class GapSums {
 public:
  explicit GapSums(const FigureContext& context) : strings_(context.strings), sites_(context.sites) {}
  void add(const WaitInput& wait) {
    if (wait.span.gap != Gap::none) {
      sums_[{wait.span.gap, sites_.sites()[wait.call.site].function}] += wait.counted_ns;
    }
  }
  auto members() { return std::tie(sums_); }
  void finish(Report& report, SiteNames&) {
    for (const auto& [key, time_ns] : sums_) {
      report.gaps.push_back({key.gap, strings_.at(key.function), time_ns});
    }
    std::sort(report.gaps.begin(), report.gaps.end(), [](const GapFigures& left, const GapFigures& right) {
      return std::tie(right.counted_ns, left.gap, left.mpi_function) <
             std::tie(left.counted_ns, right.gap, right.mpi_function);
    });
  }

 private:
  struct Key {
    Gap gap;
    std::uint32_t function;  ///< string
    [[nodiscard]] Key renumbered(const Renumbering& numbers) const {
      return {gap, numbers.strings[function]};
    }
    auto operator<=>(const Key&) const = default;
  };
  const StringPool& strings_;
  const SiteTable& sites_;
  SumsBy<Key, std::uint64_t> sums_;
};

}  // namespace penstock::analysis
