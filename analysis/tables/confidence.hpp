// Computes whether the means of two samples can be told apart. Must not know what was measured.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace penstock::analysis {

[[nodiscard]] double mean_of(const std::vector<double>& sample);

/// Returns Student's t, two-sided 95 %. For 0 degrees of freedom it is the value of one; above thirty the
/// value of thirty, which is slightly too wide.
[[nodiscard]] double student_t(std::size_t freedom);

/// Returns half of the 95 % confidence interval of the difference of the means, by Welch's t test; nullopt if
/// a sample has fewer than two values.
[[nodiscard]] std::optional<double> margin_of_difference(const std::vector<double>& left,
                                                         const std::vector<double>& right);

}  // namespace penstock::analysis
