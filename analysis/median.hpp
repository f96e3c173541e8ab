// The median of many figures. Knows nothing of what they are.
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

}  // namespace penstock::analysis
