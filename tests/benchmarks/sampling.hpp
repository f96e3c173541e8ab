// How the benchmarks here time a step and sum samples up. Knows nothing of what is measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::benchmarks {

template <class Step>
[[nodiscard]] double seconds_of(Step step) {
  const auto begin = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// How often to repeat a step for a sample of about `sample_s`; `seconds_each(n)` does it n times and returns
/// what one took. Doubles the number until it takes so long, since the first few are slow (caches, clocks,
/// what is opened once) and say little of the others; and looks twice, as something may be done once in the
/// midst of them, too.
template <class SecondsEach>
[[nodiscard]] std::uint64_t repetitions_for(double sample_s, SecondsEach seconds_each) {
  constexpr std::uint64_t most = 10'000;
  for (std::uint64_t number = 1;; number *= 2) {
    const double first_s = seconds_each(number);
    const double each_s = std::max(std::min(first_s, seconds_each(number)), 1e-7);
    const double fitting = sample_s / each_s;
    if (2 * number >= most || fitting <= static_cast<double>(2 * number))
      return static_cast<std::uint64_t>(std::clamp(fitting, 1.0, static_cast<double>(most)));
  }
}

/// Of at least one value.
[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace penstock::benchmarks
