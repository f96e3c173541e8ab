// How a figure varies from step to step: its means of batches of neighbouring steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/report/step_figures.hpp"

namespace penstock::analysis {

/// Returns the means, per rank and step, of batches whose sums are known. `sum_ns`: returns the sum of a
/// batch, by its number.
template <typename SumOfBatch>
[[nodiscard]] std::vector<double> batch_means(std::size_t steps, std::size_t ranks,
                                              const SumOfBatch& sum_ns) {
  std::vector<double> means;
  for (std::size_t batch = 0; batch < batches_of(steps); ++batch) {
    const std::size_t count = first_of_batch(steps, batch + 1) - first_of_batch(steps, batch);
    means.push_back(static_cast<double>(sum_ns(batch)) / static_cast<double>(count) /
                    static_cast<double>(std::max<std::size_t>(ranks, 1)));
  }
  return means;
}

/// The same of a figure of a step, which is a sum over the ranks.
template <typename Figure>
[[nodiscard]] std::vector<double> batch_means_of(const std::vector<StepFigures>& steps, std::size_t ranks,
                                                 const Figure& figure) {
  return batch_means(steps.size(), ranks, [&](std::size_t batch) {
    std::uint64_t sum_ns = 0;
    for (std::size_t i = first_of_batch(steps.size(), batch); i < first_of_batch(steps.size(), batch + 1);
         ++i) {
      sum_ns += figure(steps[i]);
    }
    return sum_ns;
  });
}

}  // namespace penstock::analysis
