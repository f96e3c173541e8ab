// How far the means of two samples can be told apart. Knows nothing of what was measured.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace penstock::analysis {

[[nodiscard]] double mean_of(const std::vector<double>& sample);

/// Student's t, two-sided 95 %; for none the value of one degree of freedom, for many that of thirty, which
/// is a little too wide.
[[nodiscard]] double student_t(std::size_t freedom);

/// Half of the 95 % confidence interval of the difference of the means, by Welch's t test; none when a sample
/// has fewer than two values.
[[nodiscard]] std::optional<double> margin_of_difference(const std::vector<double>& left,
                                                         const std::vector<double>& right);

}  // namespace penstock::analysis
