#include "analysis/tables/confidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace penstock::analysis {
namespace {

/// Quantiles for 1, 2, 3 … degrees of freedom.
constexpr std::array t_quantiles{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                 2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                 2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double variance_of_mean(const std::vector<double>& sample) {
  const double mean = mean_of(sample);
  double squares = 0;
  for (const double each : sample) {
    squares += (each - mean) * (each - mean);
  }
  const auto count = static_cast<double>(sample.size());
  return squares / (count - 1) / count;
}

}  // namespace

double mean_of(const std::vector<double>& sample) {
  return sample.empty()
             ? 0
             : std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

double student_t(std::size_t freedom) {
  return t_quantiles[std::clamp<std::size_t>(freedom, 1, t_quantiles.size()) - 1];
}

std::optional<double> margin_of_difference(const std::vector<double>& left,
                                           const std::vector<double>& right) {
  if (left.size() < 2 || right.size() < 2) {
    return std::nullopt;
  }
  const double a = variance_of_mean(left);
  const double b = variance_of_mean(right);
  if (a + b == 0) {
    return 0;
  }
  // degrees of freedom by Welch and Satterthwaite
  const double freedom =
      (a + b) * (a + b) /
      (a * a / static_cast<double>(left.size() - 1) + b * b / static_cast<double>(right.size() - 1));
  return student_t(static_cast<std::size_t>(std::floor(freedom))) * std::sqrt(a + b);
}

}  // namespace penstock::analysis
