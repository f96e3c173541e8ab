// The median and other quantiles of many values. Must not know what they measure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace penstock::analysis {

/// Returns the (upper) median; nullopt if there are no values. Reorders the values.
template <typename Value>
[[nodiscard]] std::optional<Value> median_of(std::vector<Value>& values) {
  if (values.empty()) {
    return std::nullopt;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns the value that the given share of the values do not exceed. Reorders the values.
template <typename Value>
[[nodiscard]] std::optional<Value> quantile_of(std::vector<Value>& values, double share) {
  if (values.empty()) {
    return std::nullopt;
  }
  const auto index = static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * share);
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

}  // namespace penstock::analysis
