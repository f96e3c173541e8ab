// The middle of what was measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace example {

[[nodiscard]] inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace example
