// How the benchmarks here time a step and sum samples up. Knows nothing of what is measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace penstock::benchmarks {

template <class Step>
[[nodiscard]] double seconds_of(Step step) {
  const auto begin = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Of at least one value.
[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace penstock::benchmarks
