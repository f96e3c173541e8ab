// The median and other quantiles of many figures. Knows nothing of what they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace penstock::analysis {

/// The upper one of the two in the middle; none of nothing. Puts the values into another order.
template <typename Value>
[[nodiscard]] std::optional<Value> median_of(std::vector<Value>& values) {
  if (values.empty()) {
    return std::nullopt;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What a share of the values do not exceed.
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
