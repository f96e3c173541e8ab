// How far the means of two samples can be told apart. Knows nothing of what was measured.
#pragma once

#include <optional>
#include <vector>

namespace penstock::analysis {

[[nodiscard]] double mean_of(const std::vector<double>& sample);

/// Half of the 95 % confidence interval of the difference of the means, by Welch's t test; none when a sample
/// has fewer than two values.
[[nodiscard]] std::optional<double> margin_of_difference(const std::vector<double>& left,
                                                         const std::vector<double>& right);

}  // namespace penstock::analysis
