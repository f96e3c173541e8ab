// How long each kernel of the application ran at some moments, to name the one that ran longest. Must not
// know what the moments are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/causes/timeline.hpp"
#include "analysis/recording/name_ids.hpp"
#include "analysis/recording/symbol_names.hpp"
#include "analysis/tables/interval_set.hpp"
#include "analysis/tables/merging.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

class KernelTimes {
 public:
  /// Adds what ran in an interval.
  void add(const Timeline& timeline, NameIds& names, Interval when) {
    auto kernel = std::upper_bound(
        timeline.kernel_segments.begin(), timeline.kernel_segments.end(), when.begin_ns,
        [](std::uint64_t time_ns, const KernelSegment& each) { return time_ns < each.end_ns; });
    for (; kernel != timeline.kernel_segments.end() && kernel->begin_ns < when.end_ns; ++kernel) {
      by_name_[{names.id_of(kernel->name)}] +=
          std::min(kernel->end_ns, when.end_ns) - std::max(kernel->begin_ns, when.begin_ns);
    }
  }
  auto members() { return std::tie(by_name_); }
  /// Returns the name of the kernel that ran longest, for people; empty if none ran.
  [[nodiscard]] std::string longest(const StringPool& strings) const {
    std::string longest;
    std::uint64_t most_ns = 0;
    for (const auto& [name, time_ns] : by_name_) {
      std::string kernel = readable_symbol(strings.at(name.string));
      if (time_ns > most_ns || (time_ns == most_ns && kernel < longest)) {
        most_ns = time_ns;
        longest = std::move(kernel);
      }
    }
    return longest;
  }

 private:
  struct Name {
    std::uint32_t string;
    [[nodiscard]] Name renumbered(const Renumbering& numbers) const { return {numbers.strings[string]}; }
    auto operator<=>(const Name&) const = default;
  };
  SumsBy<Name, std::uint64_t> by_name_;  ///< ns
};

}  // namespace penstock::analysis
